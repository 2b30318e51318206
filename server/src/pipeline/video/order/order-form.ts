/**
 * Reads an order from its bytes: the same work for a small one on the thread that serves calls and for a large one in
 * another thread.
 */
import { isJsonObject } from '../../../core/json.ts'
import { fieldsOfChat } from '../../../core/video/chat-order.ts'
import {
  type FormFields,
  type FormPart,
  type FormValue,
  fieldsOfParts,
  isFormFields,
  isFormFile,
  isFormList,
} from '../../../core/video/form.ts'
import { type VideoOrderFields, readOrder } from '../../../core/video/read-order.ts'
import { parseJson } from '../../attempt/classify.ts'
import { type Hash, createHash } from 'node:crypto'

export type OrderForm =
  /** `chat`: the order is the last part of a conversation. */
  | { readonly kind: 'json' | 'chat'; readonly body: Uint8Array }
  | { readonly kind: 'multipart'; readonly parts: readonly FormPart[] }

export type OrderRead =
  | {
      readonly kind: 'ordered'
      readonly order: VideoOrderFields
      /** Hash of its fields and files (`fingerprintOf`). */
      readonly bodySha256: string
    }
  | {
      readonly kind: 'misordered'
      readonly code: 40000 | 40002
      /** undefined: the default message of the code. */
      readonly message: string | undefined
    }

export function readOrderForm(form: OrderForm): OrderRead {
  const fields = fieldsOf(form)
  if (fields === undefined)
    return { kind: 'misordered', code: 40000, message: 'the request body is not a JSON object' }
  const read = readOrder(fields, decodeBase64)
  return read.kind === 'refused'
    ? { kind: 'misordered', code: read.code, message: read.message }
    : { kind: 'ordered', order: read.order, bodySha256: fingerprintOf(fields) }
}

function fieldsOf(form: OrderForm): FormFields | undefined {
  if (form.kind === 'multipart') return fieldsOfParts(form.parts)
  const document = parseJson(form.body)
  if (!isJsonObject(document)) return undefined
  return form.kind === 'chat' ? fieldsOfChat(document) : document
}

/**
 * SHA-256 of an order's fields, lower-case hex: the same for the same order whatever the boundaries of its form or the
 * order of its fields, so that repeated orders are recognised.
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

/** undefined: not base64. Line breaks and both alphabets are accepted. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const plain = /\s/.test(text) ? text.replace(/\s+/g, '') : text
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(plain) ? Buffer.from(plain, 'base64') : undefined
}
