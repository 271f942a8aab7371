package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// writeSamples writes objects as Go encodes them: `core.Pod.json` and `core.Pod.pb` have a value in every
// field, `core.Pod.blank.pb` has none.
func writeSamples(folder string) error {
	for _, root := range roots {
		of := reflect.TypeOf(root)
		name := file(of) + "." + of.Name()
		// Other kinds differ from a pod only in what the tables say.
		if strings.HasPrefix(name, "apps.") || strings.HasPrefix(name, "batch.") || name == "core.ReplicationController" {
			continue
		}
		blank := reflect.New(of)
		full := reflect.New(of)
		(&filler{}).fill(full.Elem())
		text, err := json.MarshalIndent(full.Interface(), "", " ")
		if err != nil {
			return err
		}
		for suffix, content := range map[string][]byte{
			".json":     append(text, '\n'),
			".pb":       encoded(full.Interface()),
			".blank.pb": encoded(blank.Interface()),
		} {
			if err := os.WriteFile(filepath.Join(folder, name+suffix), content, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func encoded(object any) []byte {
	bytes, err := object.(interface{ Marshal() ([]byte, error) }).Marshal()
	if err != nil {
		panic(err)
	}
	return bytes
}

// filler counts what it has filled in, so that no two values are the same.
type filler struct{ count int }

func (f *filler) fill(value reflect.Value) {
	f.count++
	number := strconv.Itoa(f.count)
	switch special := value.Addr().Interface().(type) {
	case *meta.TypeMeta:
		return
	case *meta.Time:
		special.Time = time.Unix(1_800_000_000+int64(f.count), 0).UTC()
		return
	case *meta.MicroTime:
		special.Time = time.Unix(1_800_000_000, int64(f.count)*1000).UTC()
		return
	case *meta.FieldsV1:
		special.Raw = []byte(`{"f:data":{".":{},"f:` + number + `":{}}}`)
		return
	case *resource.Quantity:
		*special = resource.MustParse(number + "m")
		return
	case *intstr.IntOrString:
		*special = intstr.FromInt32(int32(-f.count))
		if f.count%2 == 0 {
			*special = intstr.FromString(number + "%")
		}
		return
	}
	switch value.Kind() {
	case reflect.Struct:
		for n := range value.NumField() {
			f.fill(value.Field(n))
		}
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		f.fill(value.Elem())
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			value.SetBytes([]byte{0xfb, 0xff, byte(f.count)})
			return
		}
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		f.fill(value.Index(0))
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		for _, key := range []string{"b", "a"} {
			element := reflect.New(value.Type().Elem()).Elem()
			f.fill(element)
			value.SetMapIndex(reflect.ValueOf(key).Convert(value.Type().Key()), element)
		}
	case reflect.String:
		value.SetString("text " + number)
	case reflect.Bool:
		value.SetBool(true)
	default:
		value.SetInt(int64(f.count))
		if f.count%3 == 0 {
			value.SetInt(int64(-f.count))
		}
	}
}
