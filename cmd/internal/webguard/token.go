// Finds the token that a request bears among those of a configuration.

package webguard

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"

	"intsink/conf"
)

// TokenOf returns the token that the request bears (RFC 6750, section 2.1), nil if it bears none
// of them. Its time does not depend on which one it is.
func TokenOf(tokens []conf.Token, r *http.Request) (found *conf.Token) {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(secret))
	for i := range tokens {
		want, _ := hex.DecodeString(tokens[i].SHA256) // conf has checked it
		if subtle.ConstantTimeCompare(sum[:], want) == 1 {
			found = &tokens[i]
		}
	}
	return found
}
