package page_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"intsink/cmd/intsink/e2e/sinktest"
)

// TestPageChangesWithAToken: with a token, and once it was confirmed, the page adds a rule and removes it; the sink keeps who
// asked. A wrong token changes nothing, and the page says why.
func TestPageChangesWithAToken(t *testing.T) {
	text := strings.Replace(sinktest.Small+sinktest.Mitigated(sinktest.Config("udp_port = 5000")), `http { listen = "%s" }`, fmt.Sprintf("http {\n  listen = \"%%s\"\n  token \"desk\" {\n    sha256 = \"%x\"\n    role   = \"write\"\n  }\n}", sha256.Sum256([]byte("secret"))), 1)
	r := sinktest.Start(t, text)
	r.Get(t, "/readyz")
	b := openBrowser(t, "http://"+r.HTTP)
	b.view("act/udp:10.2.0.19:40055-10.3.2.12:8000", `document.getElementById('rule')?.disabled && document.getElementById('rule-source').value === '10.2.0.19'`)
	ask := func(token string) {
		t.Helper()
		b.set("token", token)
		b.wait(`!document.getElementById('rule').disabled`)
		b.do(chromedp.Click("#rule"))
		b.wait(`document.querySelector('dialog[open] #sure')?.innerText.startsWith('Count packets with protocol udp, source 10.2.0.19, source port 40055')`)
		b.axe("the dialog")
	}
	ask("secret")
	b.js(`document.querySelector('dialog[open] button:not(.main)').click()`) // leave it
	b.wait(`!document.querySelector('dialog')`)
	if rules := r.Get(t, "/api/v1/mitigations"); strings.Contains(rules, `"action"`) {
		t.Errorf("it was not confirmed, and done: %s", rules)
	}
	ask("wrong")
	b.do(chromedp.Click("#yes"))
	b.wait(`document.querySelector('.panel p.wrong')?.innerText.includes('token')`)
	ask("secret")
	b.do(chromedp.Click("#yes"))
	b.wait(row("1", "count", "source=10.2.0.19", `token "desk"`))
	b.js(`document.querySelector('tr[data-id="1"] button').click()`)
	b.wait(`document.querySelector('dialog[open] #sure')?.innerText === 'Remove rule 1?'`)
	b.do(chromedp.Click("#yes"))
	b.wait(`!document.querySelector('tr[data-id="1"]')`)
	b.view("sink", `[...document.querySelectorAll('tr')].some(r => r.innerText.includes('POST /api/v1/mitigations') && r.innerText.includes('token "desk"') && r.innerText.includes('ok'))`)
	b.wait(`[...document.querySelectorAll('tr')].some(r => r.innerText.includes('DELETE /api/v1/mitigations/1'))`)
	if code := r.Stop(t, sinktest.Patience); code != 0 {
		t.Errorf("exit code %d: %s", code, r.Stderr)
	}
}
