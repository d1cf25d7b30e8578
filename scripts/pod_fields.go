// pod_fields.go: prints the table of proto/template/pod_field_names.cc, the fields of a PodTemplateSpec
// by type, from Kubernetes' own types. In e2e/cluster/tools/kube, whose go.mod says which version:
//
//	go run ../../../../scripts/pod_fields.go
package main

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

var types = map[string][]string{}

// What a field's value is: nothing where any value may stand, else the name of its type, after "*" of
// a list.
func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return describe(t.Elem())
	case reflect.Slice:
		if inner := describe(t.Elem()); inner != "" {
			return "*" + inner
		}
	case reflect.Struct:
		// Written as text or number.
		if name := t.Name(); name != "Quantity" && name != "IntOrString" && name != "Time" && name != "FieldsV1" {
			collect(t)
			return name
		}
	}
	return ""
}

func fieldsOf(t reflect.Type) []string {
	var fields []string
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && strings.Contains(options, "inline") {
			fields = append(fields, fieldsOf(field.Type)...)
			continue
		}
		if inner := describe(field.Type); inner != "" {
			name += ":" + inner
		}
		fields = append(fields, name)
	}
	return fields
}

func collect(t reflect.Type) {
	if _, known := types[t.Name()]; known {
		return
	}
	types[t.Name()] = nil
	fields := fieldsOf(t)
	sort.Strings(fields)
	types[t.Name()] = fields
}

func main() {
	collect(reflect.TypeFor[corev1.PodTemplateSpec]())
	var names []string
	for name := range types {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Println(name + " " + strings.Join(types[name], " "))
	}
}
