# several DSCP values that mark INT: three classes, and one that is written short
port "network" { device = "net_null0" }
port "host" { device = "net_null1" }
link "edge" {
  network = "network"
  host    = "host"
}
watch "all" {}
collector "primary" { address = "192.0.2.10:8555" }

int {
  dscp = [
    { value = 23, restore = 0 },
    { value = 29, restore = 46 },
    { value = 48, mask = 48 },
    9,
  ]
}
