// Met: which packets of the burst at hand passed a queue with an open episode.

package event

// atHand is the packet at hand, and those of the burst that met an episode. An episode that nobody records is met by none.
type atHand struct {
	size     uint32 // of the packet, without INT
	own      Observation
	met      uint64 // bit: Observation.Number of a packet that met one
	episodes [64]uint32
}

// Observation is room for one packet, for the caller of Packet who wants to know of Met: of the packets in it that is told.
func (d *Detector) Observation() *Observation { return &d.hand.own }

// Met tells which packets since ForgetMet was called passed a queue with an open episode: bit n is that of number n, and
// episodes[n] the number of the record, of several the last.
func (d *Detector) Met() (set uint64, episodes *[64]uint32) { return d.hand.met, &d.hand.episodes }

// HasMet tells whether there are any.
func (d *Detector) HasMet() bool { return d.hand.met != 0 }

// ForgetMet is to be called once a burst.
func (d *Detector) ForgetMet() { d.hand.met = 0 }

// meet notes that the packet at hand has met an episode.
func (h *atHand) meet(episode uint32) {
	n := h.own.Number & 63
	h.met |= 1 << n
	h.episodes[n] = episode
}
