package ethdev

// TellRemoval is tellRemoval for tests of the package from outside.
var TellRemoval = tellRemoval
