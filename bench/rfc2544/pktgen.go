package main

import "errors"

func (o *options) withPktgen() error { return errors.New("todo") }
