port "a" { device = "net_null0,no-rx=1" }
port "b" { device = "net_null1,no-rx=1" }
link "edge" {
  network = "a"
  host    = "b"
}
int {
  ifa {
    protocol = [253, 6]
    hop "half" {
      lns    = 1
      fields = ["lns:4", "device_id:20"]
    }
    hop "again" {
      lns    = 1
      fields = ["device_id:28", "lns:4"]
    }
    hop "global" {
      gns    = 3
      lns    = 2
      fields = ["device_id:28", "residence:36"]
    }
  }
}
