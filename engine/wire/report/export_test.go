package report

// What tests of both packages, report and report/decode, share.
var RandomReport = randomReport
