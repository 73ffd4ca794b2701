package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"time"
)

// content returns a stream of n bytes that both ends can make: ChaCha8 with a fixed seed.
func content(n int64) io.Reader {
	var seed [32]byte
	return io.LimitReader(rand.NewChaCha8(seed), n)
}

func checksum(r io.Reader) (string, int64, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return sum(h), n, err
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

func serve(args []string) error {
	go echoServer(args[0])
	mux := http.NewServeMux()
	mux.HandleFunc("GET /bytes/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.ParseInt(r.PathValue("n"), 10, 64)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		io.Copy(w, content(n))
	})
	mux.HandleFunc("PUT /upload", func(w http.ResponseWriter, r *http.Request) {
		s, _, err := checksum(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		io.WriteString(w, s)
	})
	return http.ListenAndServe(args[0], mux)
}

var client = http.Client{Timeout: 60 * time.Second}

func download(args []string) error {
	n, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	started := time.Now()
	r, err := client.Get(args[0] + "/bytes/" + args[1])
	if err != nil {
		return err
	}
	defer r.Body.Close()
	got, size, err := checksum(r.Body)
	if err != nil {
		return err
	}
	return compare("download", n, size, got, time.Since(started))
}

func upload(args []string) error {
	n, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	started := time.Now()
	req, err := http.NewRequest(http.MethodPut, args[0]+"/upload", content(n))
	if err != nil {
		return err
	}
	r, err := client.Do(req)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	got, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	return compare("upload", n, n, string(got), time.Since(started))
}

func get(args []string) error {
	r, err := client.Get(args[0])
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", args[0], r.Status)
	}
	_, err = io.Copy(os.Stdout, r.Body)
	return err
}

func compare(what string, n, size int64, got string, took time.Duration) error {
	want, _, err := checksum(content(n))
	if err != nil {
		return err
	}
	if size != n || got != want {
		return fmt.Errorf("%s is damaged: %d of %d bytes, sha256 %.16s, want %.16s", what, size, n, got, want)
	}
	fmt.Printf("%s: %d bytes in %v, sha256 %.16s, as sent\n", what, size, took.Round(time.Millisecond), got)
	return nil
}
