// Package plan is the command plan: the report rate that a configuration would give.
// planner.go takes a capture through a worker between ports in memory (simulate.MemPort) and
// counts second by second, timeline.go in steps for a picture, result.go is what comes
// out, plantext.go its tables, htmlpage.go, chart.go and page.html the page of --html.
package plan
