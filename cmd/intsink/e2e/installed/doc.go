// Package installed tests what is installed, packaged and documented, and what a running sink keeps and answers.
package installed
