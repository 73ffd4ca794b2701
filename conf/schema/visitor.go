// Visitor, the interface that walks a schema; Pointer and Slice, blocks that are optional
// or repeated.

package schema

// Visitor walks the schema of one block.
type Visitor interface {
	// Attr is an attribute that may be omitted.
	Attr(name string, v Value)
	// Required is an attribute that may not.
	Required(name string, v Value)
	// Block is an unlabelled block that stands there at most once; key is a
	// pointer that the checks know it by.
	Block(name string, key any, visit func(Visitor))
	// Optional is a block whose absence means something: it exists only when present.
	Optional(name string, p OptionalBlock)
	// Blocks is a labelled block that may be repeated.
	Blocks(name string, l BlockList)
}

// OptionalBlock is a block that may be absent.
type OptionalBlock interface {
	Exists() bool
	Create()
	Key() any
	Visit(Visitor)
}

// Pointer returns an optional block that fills *p, which init makes where the block stands in the
// file.
func Pointer[T any](p **T, init func() T, fill func(Visitor, *T)) OptionalBlock {
	return pointerBlock[T]{p, init, fill}
}

type pointerBlock[T any] struct {
	p    **T
	init func() T
	fill func(Visitor, *T)
}

func (b pointerBlock[T]) Exists() bool { return *b.p != nil }

func (b pointerBlock[T]) Create() { t := b.init(); *b.p = &t }

func (b pointerBlock[T]) Key() any { return *b.p }

func (b pointerBlock[T]) Visit(v Visitor) { b.fill(v, *b.p) }

// BlockList is the slice that a repeated block fills.
type BlockList interface {
	Resize(n int) // called once, before any element is visited: pointers to elements stay good
	Size() int
	Key(i int) any
	Label(i int) *string
	Visit(i int, v Visitor)
}

// Slice returns a repeated block that fills *list: init makes element i before its block is read,
// name is where its label goes.
func Slice[T any](list *[]T, init func(i int) T, name func(*T) *string, fill func(Visitor, *T)) BlockList {
	return sliceBlocks[T]{list, init, name, fill}
}

type sliceBlocks[T any] struct {
	list *[]T
	init func(i int) T
	name func(*T) *string
	fill func(Visitor, *T)
}

func (b sliceBlocks[T]) Resize(n int) {
	if n == 0 {
		*b.list = nil
		return
	}
	*b.list = make([]T, n)
	for i := range *b.list {
		(*b.list)[i] = b.init(i)
	}
}

func (b sliceBlocks[T]) Size() int { return len(*b.list) }

func (b sliceBlocks[T]) Key(i int) any { return &(*b.list)[i] }

func (b sliceBlocks[T]) Label(i int) *string { return b.name(&(*b.list)[i]) }

func (b sliceBlocks[T]) Visit(i int, v Visitor) { b.fill(v, &(*b.list)[i]) }

// Zero returns the init of a slice whose blocks have no defaults.
func Zero[T any](int) (t T) { return t }
