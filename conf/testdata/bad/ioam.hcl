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
