// Manager doesn't compile.
package main

func main() { undefined() }
