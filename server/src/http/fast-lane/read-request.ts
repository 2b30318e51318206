/**
 * Reads the head of a request of the plain shape: one that has no second meaning under RFC 9112. Every other head, also one
 * that is only unusual, is left to `node:http`. What is read here, llhttp reads in the same way; the tests check that.
 */
import { parseFields } from '../../core/http1/fields.ts'
import { HttpSyntaxError } from '../../core/http1/syntax-error.ts'

export interface PlainRequest {
  readonly method: string
  readonly path: string
  /** Without its question mark. */
  readonly query: string
  /** Lower-case names, each once. Has no prototype. */
  readonly headers: Readonly<Record<string, string>>
  readonly host: string
  /** Bytes of the head, with its empty line. */
  readonly headBytes: number
  readonly bodyBytes: number
}

const HEAD_END = Buffer.from('\r\n\r\n')
const REQUEST_LINE =
  /^(GET|POST|DELETE) (\/[\w\-./:~%@!$&'()*+,;=]*)(?:\?([\w\-./:~%@!$&'()*+,;=?]*))? HTTP\/1\.1\r\n/
/** Line ends are checked with the fields. */
const NOT_VISIBLE = /[^\r\n\x20-\x7e]|\r(?!\n)|(?<!\r)\n/
/** Fifteen digits are exact as a number; zeros in front are unusual. */
const PLAIN_LENGTH = /^(?:0|[1-9]\d{0,14})$/

/**
 * @param headBytesMax of a longer head nothing is read
 * @returns undefined if the head is not complete, or not of the plain shape
 */
export function readPlainRequest(
  bytes: Buffer,
  { headBytesMax, headersMax }: { readonly headBytesMax: number; readonly headersMax: number },
): PlainRequest | undefined {
  const end = bytes.indexOf(HEAD_END)
  if (end === -1 || end + HEAD_END.length > headBytesMax) return undefined
  const text = bytes.toString('latin1', 0, end + 2)
  const [line, method, path, query = ''] = REQUEST_LINE.exec(text) ?? []
  if (line === undefined || method === undefined || path === undefined || NOT_VISIBLE.test(text))
    return undefined
  const fields = fieldsOf(text, line.length, headersMax)
  if (fields === undefined || !arePlain(fields)) return undefined
  const { host, 'content-length': length = '0' } = fields
  if (host === undefined || !PLAIN_LENGTH.test(length)) return undefined
  return {
    method,
    path,
    query,
    headers: fields,
    host,
    headBytes: end + HEAD_END.length,
    bodyBytes: Number(length),
  }
}

type Fields = Readonly<Record<string, string>>

/** undefined: a line is no field, a name occurs twice, or there are too many. */
function fieldsOf(text: string, start: number, headersMax: number): Fields | undefined {
  try {
    const { headers, lines, repeats } = parseFields(text, start)
    // No name repeats, so no value is a list.
    return repeats || lines > headersMax ? undefined : (headers as Fields)
  } catch (error) {
    if (error instanceof HttpSyntaxError) return undefined
    throw error
  }
}

/** Nothing in them changes how the connection or the body is read; `node:http` decides about everything that may. */
function arePlain(fields: Fields): boolean {
  const { connection } = fields
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return false
  return !UNUSUAL.some((name) => fields[name] !== undefined)
}

/** The last of them is no name of a plain object's member. */
const UNUSUAL = ['transfer-encoding', 'expect', 'upgrade', 'proxy-connection', '__proto__']
