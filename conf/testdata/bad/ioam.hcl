port "a" { device = "net_null0,no-rx=1" }
port "b" { device = "net_null1,no-rx=1" }
port "c" { device = "net_null2,no-rx=1" }
port "d" { device = "net_null3,no-rx=1" }
link "edge" {
  network = "a"
  host    = "b"
  int {
    ioam {
      namespace = []
      clock     = "gps"
      decapsulate = ["2001:db8::/64", "192.0.2.1", "::", "ff02::1", "2001:db8::1", "2001:DB8::1"]
    }
  }
}
link "other" {
  network = "c"
  host    = "d"
}
int {
  ioam {
    namespace = [123, 65536]
  }
}
