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
	if p.Kind == Queue || p.Kind == Hop {
		v.Like = u.like[nodeOf(p)]
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
	switch {
	case !v.Latency.Known && !v.Occupancy.Known && !v.Like.History:
		return Learning
	case held.Known && held.Median >= v.Floor && v.Like.Nodes < 2 && p.minute*minute-p.first < int64(young):
		return Doubtful
	}
	return Known
}

// Believed counts the places of a kind that are being learned, those that are doubtful, and all of them.
func (u *Usual) Believed(k Kind) (learning, doubtful, all int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.others[k%NumKinds].Walk(0, MaxPlaces, func(key [2]uint64, _ uint32, p *place) {
		v := Value{Latency: p.usual, Floor: u.floor}
		if k == Hop {
			v.Like = u.like[nodeOf(Place{k, key})]
		}
		switch all++; p.state(&v) {
		case Learning:
			learning++
		case Doubtful:
			doubtful++
		}
	})
	return learning, doubtful, all
}
