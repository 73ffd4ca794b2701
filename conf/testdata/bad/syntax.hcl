node {
  id = 
}
port "network" {
