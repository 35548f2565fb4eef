package proof

import (
	"context"
	"fmt"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/course"
)

// Stubs says where the exercise that lies in a chapter is not the solution plus
// stub.patch.
func Stubs(ctx context.Context, c *course.Course, ch *course.Chapter) []string {
	differ, err := answer.Changed(ctx, c, ch)
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	for _, name := range differ {
		problems = append(problems, fmt.Sprintf("chapters/%s/%s is not the solution plus stub.patch: `bin/lab reset %d` makes it so, `bin/lab author edit %d stub` changes the patch", ch.ID, name, ch.Number, ch.Number))
	}
	return problems
}
