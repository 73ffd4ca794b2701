// Stream: reads an answer that lasts as long as its request (capture).

package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
)

// Stream asks the sink by POST for something that it goes on to send. request is its JSON.
// The trailer is complete when body was read to its end.
func (s *Sink) Stream(ctx context.Context, path string, request any) (body io.ReadCloser, trailer http.Header, err error) {
	b, err := json.Marshal(request)
	if err != nil {
		return nil, nil, err
	}
	answer, err := s.send(ctx, http.MethodPost, path, bytes.NewReader(b))
	if err != nil {
		return nil, nil, err
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // what cannot be read is no error of ours
		return nil, nil, s.failure(said, answer.StatusCode)
	}
	return answer.Body, answer.Trailer, nil
}
