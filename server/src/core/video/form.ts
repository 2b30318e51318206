/**
 * The fields of an order as they came over the wire, JSON or multipart, in one shape. SDKs turn objects and arrays into
 * multipart names with brackets (`input_reference[image_url]`, `reference_images[]`); here they become objects and
 * arrays again.
 */
import type { JsonValue } from '../json.ts'

/** The content of a body, before it is checked. */
export type ReceivedForm =
  | { readonly kind: 'empty' }
  | { readonly kind: 'unreadable'; readonly detail: string }
  | { readonly kind: 'not-json' }
  /** JSON, not parsed yet: an image in it may be long. */
  | { readonly kind: 'json'; readonly chunks: readonly Uint8Array[]; readonly length: number }
  | { readonly kind: 'multipart'; readonly parts: readonly FormPart[] }

export interface FormPart {
  readonly name: string
  readonly value: string | FormFile
}

/** A file part. Its bytes decide the type; the declared type is only the last resort. */
export interface FormFile {
  readonly mediaType: string
  readonly bytes: Uint8Array
}

/** A JSON document whose leaves may be files. */
export type FormValue = JsonValue | FormFile | readonly FormValue[] | FormFields
export interface FormFields {
  readonly [name: string]: FormValue | undefined
}

export function isFormFile(value: FormValue | undefined): value is FormFile {
  return typeof value === 'object' && value !== null && 'bytes' in value && value.bytes instanceof Uint8Array
}

export function isFormList(value: FormValue | undefined): value is readonly FormValue[] {
  return Array.isArray(value)
}

export function isFormFields(value: FormValue | undefined): value is FormFields {
  return typeof value === 'object' && value !== null && !isFormList(value) && !isFormFile(value)
}

/** Elements of one array; no real form has more. */
const INDEX_MAX = 999
const DEPTH_MAX = 8

/** The parts as one object; a plain name that occurs twice becomes an array, as with browsers. */
export function fieldsOfParts(parts: readonly FormPart[]): FormFields {
  const root = new Branch()
  for (const { name, value } of parts) root.put(segmentsOf(name), value)
  return root.toFields()
}

/** `a[b][]` → `a`, `b`, ``. A name with unbalanced brackets is taken literally. */
function segmentsOf(name: string): readonly string[] {
  const matched = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name)
  if (matched === null) return [name]
  const [, head = '', tail = ''] = matched
  const segments = [head, ...tail.slice(1, -1).split('][')]
  return segments.length > DEPTH_MAX ? [name] : segments
}

/** An object or an array under construction; its names decide in the end which of the two. */
class Branch {
  readonly #children = new Map<string, Branch | string | FormFile>()
  #next = 0

  put(segments: readonly string[], value: string | FormFile): void {
    const [head = '', ...rest] = segments
    const name = head === '' ? this.#freeIndex() : head
    if (rest.length === 0) {
      this.#putLeaf(name, value)
      return
    }
    const known = this.#children.get(name)
    const child = known instanceof Branch ? known : new Branch()
    if (known !== undefined && !(known instanceof Branch)) child.put([''], known)
    this.#children.set(name, child)
    child.put(rest, value)
  }

  toFields(): FormFields {
    return Object.fromEntries([...this.#children].map(([name, child]) => [name, finished(child)]))
  }

  toValue(): FormValue {
    const names = [...this.#children.keys()]
    if (!names.every((name) => /^\d{1,3}$/.test(name) && Number(name) <= INDEX_MAX)) return this.toFields()
    return [...this.#children]
      .sort(([one], [other]) => Number(one) - Number(other))
      .map(([, child]) => finished(child))
  }

  #putLeaf(name: string, value: string | FormFile): void {
    const known = this.#children.get(name)
    if (known === undefined) {
      this.#children.set(name, value)
      return
    }
    const many = known instanceof Branch ? known : new Branch()
    if (!(known instanceof Branch)) many.put([''], known)
    many.put([''], value)
    this.#children.set(name, many)
  }

  #freeIndex(): string {
    while (this.#children.has(String(this.#next))) this.#next += 1
    return String(this.#next)
  }
}

function finished(child: Branch | string | FormFile): FormValue {
  return child instanceof Branch ? child.toValue() : child
}
