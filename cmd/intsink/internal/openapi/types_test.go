package openapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// object is JSON.
type object map[string]any

// source reads Go types out of packages, and makes schemas of them.
type source struct {
	t        *testing.T
	packages map[string]map[string]*ast.TypeSpec // by folder below the module, and name
	imports  map[string]map[string]string        // of a folder: folder by the name that its files call it
	schemas  object                              // that are in use, by name
}

// written are types whose JSON is not that of their fields.
var written = map[string]object{
	"time.Time":        {"type": "string", "format": "date-time"},
	"control.Duration": {"type": "string", "description": "a duration, such as 10m"},
	"mitigation.Life":  {"type": "string", "description": "a duration, such as 10m0s"},
	"mitigation.Texts": {"type": "array", "items": object{"type": "string"}},
}

// basic are Go's own types.
var basic = map[string]object{
	"string": {"type": "string"}, "bool": {"type": "boolean"}, "any": {}, "float64": {"type": "number"}, "int": {"type": "integer"}, "int64": {"type": "integer"},
	"uint8": natural(8), "uint16": natural(16), "uint32": natural(32), "uint64": {"type": "integer", "minimum": 0},
}

func natural(bits int) object {
	return object{"type": "integer", "minimum": 0, "maximum": 1<<bits - 1}
}

// load reads a package's types, once.
func (s *source) load(folder string) map[string]*ast.TypeSpec {
	if s.packages[folder] != nil {
		return s.packages[folder]
	}
	types, imports := map[string]*ast.TypeSpec{}, map[string]string{}
	s.packages[folder], s.imports[folder] = types, imports
	files, _ := filepath.Glob(filepath.Join("../../../..", folder, "*.go"))
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			imports[filepath.Base(path)] = strings.TrimPrefix(path, "intsink/")
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				types[spec.Name.Name] = spec
			}
			return true
		})
	}
	return types
}

// refer returns the schema of folder.name: a reference, where it is a struct.
func (s *source) refer(folder, name string) object {
	short := filepath.Base(folder) + "." + name
	if w, ok := written[short]; ok {
		return w
	}
	spec := s.load(folder)[name]
	if spec == nil {
		s.t.Fatalf("there is no type %s in %s", name, folder)
	}
	x, ok := spec.Type.(*ast.StructType)
	if !ok {
		return s.schema(folder, spec.Type)
	}
	if s.schemas[short] == nil {
		schema := object{"type": "object", "additionalProperties": false}
		s.schemas[short] = schema // before its fields: they may be of it
		properties, required := object{}, []string{}
		s.fields(folder, x, properties, &required)
		schema["properties"], schema["required"] = properties, required
	}
	return object{"$ref": "#/components/schemas/" + short}
}

// fields adds the fields of a struct, and of those that are embedded in it.
func (s *source) fields(folder string, x *ast.StructType, properties object, required *[]string) {
	for _, f := range x.Fields.List {
		if len(f.Names) == 0 {
			embedded := f.Type.(*ast.Ident).Name
			s.fields(folder, s.load(folder)[embedded].Type.(*ast.StructType), properties, required)
			continue
		}
		if f.Tag == nil {
			continue
		}
		text, _ := strconv.Unquote(f.Tag.Value)
		name, options, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
		if name == "-" || name == "" {
			continue
		}
		says := strings.TrimSpace(f.Comment.Text())
		may := options != ""
		schema := s.field(folder, f.Type, may, strings.Contains(says, "null"))
		if says != "" {
			schema["description"] = says
		}
		properties[name] = schema
		if !may {
			*required = append(*required, name)
		}
	}
}

// field is the schema of a field. A pointer without omitempty may be null, and so may a slice whose comment says null.
func (s *source) field(folder string, e ast.Expr, may, null bool) object {
	schema := object{}
	for k, v := range s.schema(folder, e) {
		schema[k] = v
	}
	_, pointer := e.(*ast.StarExpr)
	_, slice := e.(*ast.ArrayType)
	if pointer && !may || slice && null {
		if kind, ok := schema["type"]; ok {
			schema["type"] = []any{kind, "null"}
			return schema
		}
		return object{"anyOf": []any{schema, object{"type": "null"}}}
	}
	return schema
}

// schema is the schema of a type.
func (s *source) schema(folder string, e ast.Expr) object {
	switch e := e.(type) {
	case *ast.StarExpr:
		return s.schema(folder, e.X)
	case *ast.ArrayType:
		return object{"type": "array", "items": s.schema(folder, e.Elt)}
	case *ast.MapType:
		return object{"type": "object", "additionalProperties": s.schema(folder, e.Value)}
	case *ast.StructType:
		properties, required := object{}, []string{}
		s.fields(folder, e, properties, &required)
		return object{"type": "object", "additionalProperties": false, "properties": properties, "required": required}
	case *ast.SelectorExpr:
		from := e.X.(*ast.Ident).Name
		if from == "time" {
			return s.refer("time", e.Sel.Name)
		}
		return s.refer(s.imports[folder][from], e.Sel.Name)
	case *ast.Ident:
		if b, ok := basic[e.Name]; ok {
			return b
		}
		return s.refer(folder, e.Name)
	}
	s.t.Fatalf("%s: a type that has no schema: %T", folder, e)
	return nil
}
