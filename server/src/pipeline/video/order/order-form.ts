/** An order read out of its bytes: the same work for a small one where the calls run and for a large one in a thread. */
import { isJsonObject } from '../../../core/json.ts'
import { fieldsOfChat } from '../../../core/video/chat-order.ts'
import { fieldsOfParts, type FormFields, type FormPart } from '../../../core/video/form.ts'
import { readOrder, type VideoOrderFields } from '../../../core/video/read-order.ts'
import { parseJson } from '../../attempt/classify.ts'
import { decodeBase64 } from './base64.ts'
import { fingerprintOf } from './fingerprint.ts'

export type OrderForm =
  /** `chat`: the order is the end of a conversation. */
  | { readonly kind: 'json' | 'chat'; readonly body: Uint8Array }
  | { readonly kind: 'multipart'; readonly parts: readonly FormPart[] }

export type OrderRead =
  | {
      readonly kind: 'ordered'
      readonly order: VideoOrderFields
      /** Of its fields and files (`fingerprintOf`). */
      readonly bodySha256: string
    }
  | {
      readonly kind: 'misordered'
      readonly code: 40000 | 40002
      /** undefined: the code's own words. */
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
