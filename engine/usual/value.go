// Value: what is usual at a place, and how far that can be believed.

package usual

// State is how far what is usual at a place can be believed.
type State uint8

const (
	Learning State = iota // too few packets have told, of the place and of its node
	Doubtful              // it has been as slow as it is since it was seen first, and there is nothing to hold that against
	Known
)

var states = [...]string{"learning", "doubtful", "known"}

// String returns the state's name in answers.
func (s State) String() string { return states[s] }

// Value is what is usual at a place.
type Value struct {
	Latency   Stat  // nanoseconds
	Occupancy Stat  // of queues
	Like      Like  // of a hop or queue: what holds as long as its own is not known
	Since     int64 // when the place was seen first, Unix nanoseconds
	State     State
	Floor     uint32 // nanoseconds: no latency below is far above what is usual

	line Like // of a segment: what those like it do, which is nothing to hold it against, for lines have any length
}

// Held are what the place is held against.
func (v *Value) Held() (latency, occupancy Stat) {
	return v.Latency.or(v.Like.Latency), v.Occupancy.or(v.Like.Occupancy)
}

// IsFar reports whether a latency is far above what the place is held against: such are not learned.
func (v *Value) IsFar(latency uint32) bool {
	held, _ := v.Held()
	return held.isOdd(latency, v.Floor)
}

// Of returns what is usual at a place, and whether the place is known.
func (u *Usual) Of(p Place) (v Value, known bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	v.Floor = u.floor
	var x *place
	if p.Kind == Queue {
		if q := u.queues.Find(p.Key); q != nil {
			x, v.Occupancy = &q.place, q.usualOccupancy
		}
	} else {
		x = u.others[p.Kind%NumKinds].Find(p.Key)
	}
	switch p.Kind {
	case Queue, Hop:
		v.Like = u.like[nodeOf(p)]
	case Segment:
		v.line = u.lines[u.lineOf(p.Key)]
	}
	if x == nil {
		return v, false
	}
	v.Latency, v.Since = x.usual, x.first
	v.State = x.state(&v)
	return v, true
}

// state is that of a place of which v is known.
func (p *place) state(v *Value) State {
	held, _ := v.Held()
	isLike := v.Like.Nodes >= 2 || v.line.Nodes >= 2 && !v.line.Latency.IsAbove(held.Median)
	switch {
	case !v.Latency.Known && !v.Occupancy.Known && !v.Like.History:
		return Learning
	case held.Known && held.Median >= v.Floor && !isLike && p.minute*minute-p.first < int64(young):
		return Doubtful
	}
	return Known
}

// Believed is how many places of a kind there are, and what nobody knows of them.
type Believed struct {
	All, Learning, Doubtful int
	Began                   int // were slow at first, and are not any more
}

// Believed counts the places of a kind.
func (u *Usual) Believed(k Kind) (b Believed) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.others[k%NumKinds].Walk(0, MaxPlaces, func(key [2]uint64, _ uint32, p *place) {
		v := Value{Latency: p.usual, Floor: u.floor}
		if k == Hop {
			v.Like = u.like[nodeOf(Place{k, key})]
		} else {
			v.line = u.lines[u.lineOf(key)]
		}
		b.All++
		switch p.state(&v) {
		case Learning:
			b.Learning++
		case Doubtful:
			b.Doubtful++
		}
		if p.began {
			b.Began++
		}
	})
	return b
}
