package main

import (
	"strings"
	"testing"
)

// TestPageShowsRings: where workers hand packets over, their table says how many and how full the
// rings are, and a ring that was full is a notice that says what to do.
func TestPageShowsRings(t *testing.T) {
	text := strings.Replace(small, "mbufs      = 4096", "mbufs = 16384\n  lcores = [0, 1]\n  distribute = \"software\"", 1)
	r := startRun(t, text+config("udp_port = 5000"))
	r.get(t, "/healthz") // the browser does not ask twice
	b := openBrowser(t, "http://"+r.http)
	b.view("workers", `[...document.querySelectorAll('th')].some((h) => h.innerText.startsWith('ring full'))`)
	b.wait(`document.body.innerText.includes('network 0 of 1024') && document.querySelectorAll('.notice').length === 0`)
	b.js(`const get = window.fetch; window.fetch = async (...all) => {
		const answer = await get(...all);
		if (!String(all[0]).includes('/api/v1/status')) return answer;
		const status = await answer.json();
		Object.assign(status.workers[1].rings[0], { dropped: 7, waiting: 3 });
		return new Response(JSON.stringify(status));
	}`)
	b.wait(`/^worker w1 did not keep up: 7 packets of port "network" found its ring full .*raise rx_desc of the port, now 1024;.*keep CPU 1 free/.test(document.querySelector('.notice')?.innerText)`)
	b.wait(`document.body.innerText.includes('network 3 of 1024')`)
}
