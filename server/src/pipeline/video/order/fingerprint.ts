import { createHash, type Hash } from 'node:crypto'
import {
  type FormFields,
  type FormValue,
  isFormFields,
  isFormFile,
  isFormList,
} from '../../../core/video/form.ts'

/**
 * SHA-256 of an order's fields, lower-case hex: the same for the same order whatever the boundaries of its form or the
 * order of its fields, so that a repetition is known as one.
 */
export function fingerprintOf(fields: FormFields): string {
  const hash = createHash('sha256')
  feed(hash, fields)
  return hash.digest('hex')
}

function feed(hash: Hash, value: FormValue): void {
  if (isFormFile(value)) {
    hash.update(`file ${value.bytes.byteLength} `)
    hash.update(value.bytes)
  } else if (isFormList(value)) {
    hash.update(`list ${value.length} `)
    for (const item of value) feed(hash, item)
  } else if (isFormFields(value)) {
    const names = Object.keys(value)
      .filter((name) => value[name] !== undefined)
      .sort()
    hash.update(`fields ${names.length} `)
    for (const name of names) {
      hash.update(JSON.stringify(name))
      feed(hash, value[name] ?? null)
    }
  } else hash.update(`${JSON.stringify(value)} `)
}
