// Wrappers of values: Then, Checked, Omitted.

package schema

// Then is v with a function that runs after v was read from a file.
func Then(v Value, f func()) Value { return thenValue{v, f} }

type thenValue struct {
	Value
	f func()
}

func (t thenValue) Read(x *Expr) bool {
	ok := t.Value.Read(x)
	if ok {
		t.f()
	}
	return ok
}

// Checked is v with a check that runs after v was read from a file; good reports itself what
// is wrong, and returns false.
func Checked(v Value, good func(x *Expr) bool) Value { return checkedValue{v, good} }

type checkedValue struct {
	Value
	good func(x *Expr) bool
}

func (c checkedValue) Read(x *Expr) bool { return c.Value.Read(x) && c.good(x) }

// Omitted is v, which a dump leaves out if absent returns true.
func Omitted(v Value, absent func() bool) Value { return omittedValue{v, absent} }

type omittedValue struct {
	Value
	absent func() bool
}

func (o omittedValue) Write() (string, bool) {
	if o.absent() {
		return "", false
	}
	return o.Value.Write()
}
