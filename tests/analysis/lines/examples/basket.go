// Package fruit has baskets.
package fruit

import (
	"errors"
	"strings"
)

// Total adds the weights.
func Total(weights []float64) (float64, error) {
	mayTotal := 0.0
	// none is negative
	for _, mayWeigh := range weights {
		if mayWeigh < 0 {
			return 0, errors.New("may not be negative")
		}
		mayTotal += mayWeigh
	}
	page := strings.TrimSpace(`may begin
		inside a string
	`)
	return mayTotal + float64(len(page)), nil
}
