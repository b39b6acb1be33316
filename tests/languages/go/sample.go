// Package ring keeps the last values.
package ring

import (
	"errors"
	"fmt"
)

const Size = 8

const (
	First = iota
	Second
)

var ErrEmpty = errors.New("empty")

var (
	count int
	names = map[string]int{"a": 1, "b": 2}
)

// Ring holds values.
type Ring[T any] struct {
	values []T
	head   int
}

type Reader interface {
	Read(p []byte) (n int, err error)
}

type (
	Name  string
	Point struct{ X, Y int }
)

type Alias = Name

func New[T any](size int) *Ring[T] {
	return &Ring[T]{values: make([]T, 0, size)}
}

func (r *Ring[T]) Push(value T, rest ...T) {
	r.values = append(r.values, value)
	for _, one := range rest {
		r.values = append(r.values, one)
	}
}

func (p Point) Add(x, y int) Point {
	return Point{
		X: p.X + x,
		Y: p.Y + y,
	}
}

func (Name) Kind() string { return "name" }

func each(visit func(index int, value string) error, values ...string) error {
	for i, value := range values {
		if err := visit(i, value); err != nil {
			return fmt.Errorf("at %d: %w", i, err)
		}
	}
	return nil
}

func init() {
	count = 1
}

func init() {
	count++
}
