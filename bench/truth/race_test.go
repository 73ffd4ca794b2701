//go:build race

package truth

func init() { // about a tenth of the speed
	short.Scenes, short.Shared, short.Flood, strict.Scenes, strict.Shared = 400, 1, 1500, 100, 1
	planned.Scenes, planned.Shared = 200, 1
}
