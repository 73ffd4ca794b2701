// Asks other collectors behind the same address by HTTP for report packets that did not come here, and answers them.

package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"intsink/conf/collector"
	"intsink/exporters/collect"
	"intsink/exporters/collect/streams"
)

// seenPath is where a collector is asked which report packets came to it.
const seenPath = "/api/v1/seen"

const (
	maxSeenQuestion = 1 << 20  // bytes of a request
	maxSeenAnswer   = 64 << 20 // and of its answer
)

// peersOf are the other collectors of the configuration.
func peersOf(c *collector.Config) (all []collect.Peer) {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, url := range c.Peers {
		all = append(all, collect.Peer{Name: url, Ask: func(ctx context.Context, q []collect.PeerQuestion) ([]streams.Answer, error) {
			return askPeer(ctx, client, strings.TrimRight(url, "/")+seenPath, q)
		}})
	}
	return all
}

func askPeer(ctx context.Context, client *http.Client, url string, q []collect.PeerQuestion) (answers []streams.Answer, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return nil, fmt.Errorf("%s: %s", resp.Status, strings.TrimSpace(string(text)))
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxSeenAnswer)).Decode(&answers); err != nil {
		return nil, fmt.Errorf("the answer cannot be read: %w", err)
	}
	if len(answers) != len(q) {
		return nil, fmt.Errorf("%d answers to %d questions", len(answers), len(q))
	}
	return answers, nil
}

// answerPeer answers the questions of another collector.
func (d *daemon) answerPeer(w http.ResponseWriter, r *http.Request) {
	var q []collect.PeerQuestion
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSeenQuestion)).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if len(q) > collect.MaxQuestions {
		http.Error(w, fmt.Sprintf("%d questions are more than %d", len(q), collect.MaxQuestions), http.StatusRequestEntityTooLarge)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(d.collector.Answer(q))
}
