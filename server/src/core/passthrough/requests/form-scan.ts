/**
 * What the gateway reads of a form (multipart/form-data, RFC 7578) from its bytes as they arrive: the positions of its
 * model, its files and its short fields. No bytes of files are kept. A form that two parsers could split differently is
 * refused: the vendor might make another call than the one that is charged.
 */
import type { Span } from '../splice.ts'
import { countInText } from './count-in-text.ts'
import { FormCutter, type FormPart } from './form-cutter.ts'
import { NO_EXTRAS } from './request-extras.ts'
import type { RequestScanner } from './request-scan.ts'
import type { FormFile, RefusedRequest, RequestScan, ScannedRequest } from './scanned-request.ts'

/** What is read from the forms of one kind of call. */
export interface FormReading {
  /** Fields that are files, without the brackets of lists; a form needs at least one of the first. */
  readonly files: readonly [string, ...string[]]
  /** Fields that are refused, and why. */
  readonly refused: Readonly<Record<string, string>>
}

/** A form has a dozen fields, and up to some dozen files. */
const PARTS_MAX = 256
/** Bytes of a field that is read; longer ones are passed on unread. */
const FIELD_BYTES_MAX = 65_536
/** Bytes of all fields that are kept. */
const FIELDS_BYTES_MAX = 262_144
const USER_CHARACTERS_MAX = 256

/** Parsers take either the first or the last of several. */
const SINGLE = ['stream', 'n', 'user', 'response_format', 'stream_format', '_charset_']

/** Never throws: a type without a boundary is reported by `end`. */
export function createFormScanner(reading: FormReading, contentType: string): RequestScanner {
  const boundary = boundaryOf(contentType)
  if (boundary === undefined)
    return refusing(
      refuse(
        40000,
        'the Content-Type of a form names its boundary, once, in 1 to 70 characters, and no charset but utf-8',
      ),
    )
  return new FormScan(reading, contentType, boundary)
}

/** Whether a body of this type is a form. */
export function isForm(contentType: string | undefined): contentType is string {
  return contentType !== undefined && /^multipart\/form-data(?![^\s;])/i.test(contentType.trim())
}

/** RFC 2046 §5.1.1. */
const BOUNDARY = /^[\w'()+,\-./:=?]{1,70}$/

const PARAMETERS = /^multipart\/form-data((?:\s*;\s*[^\s;="]+=(?:"[^"\\]*"|[^\s;"]+))*)\s*;?\s*$/i
const PARAMETER = /;\s*([^\s;="]+)=(?:"([^"\\]*)"|([^\s;"]+))/g

/** Parsers decode names and values in the charset that the form declares. */
const UTF_8 = /^(?:utf-?8|us-ascii)?$/i

/** undefined: there is none, or parsers may find different ones. */
function boundaryOf(contentType: string): string | undefined {
  const [, parameters] = PARAMETERS.exec(contentType.trim()) ?? []
  if (parameters === undefined) return undefined
  const all = [...parameters.matchAll(PARAMETER)]
  if (
    all.some(([, name = '', quoted, word]) => /^charset\b/i.test(name) && !UTF_8.test(quoted ?? word ?? ''))
  )
    return undefined
  const named = all.filter(([, name = '']) => /^boundary\b/i.test(name))
  const [only] = named
  if (only === undefined || named.length > 1 || only[1]?.toLowerCase() !== 'boundary') return undefined
  const boundary = only[2] ?? only[3] ?? ''
  return BOUNDARY.test(boundary) ? boundary : undefined
}

class FormScan implements RequestScanner {
  readonly #reading: FormReading
  readonly #contentType: string
  readonly #cutter: FormCutter
  readonly #modelSpans: Span[] = []
  readonly #files: FormFile[] = []
  readonly #fields = new Map<string, string>()
  readonly #unread = new Set<string>()
  readonly #seen = new Set<string>()
  #model: string | undefined
  #parts = 0
  #fieldBytes = 0
  #refused: RefusedRequest | undefined

  constructor(reading: FormReading, contentType: string, boundary: string) {
    this.#reading = reading
    this.#contentType = contentType
    this.#cutter = new FormCutter(boundary, FIELD_BYTES_MAX, {
      begin: (part) => this.#begin(part),
      end: (part, span, text) => this.#take(part, span, text),
    })
  }

  push(chunk: Uint8Array): boolean {
    if (this.#refused !== undefined) return false
    this.#cutter.push(chunk)
    this.#refuseMistake()
    return !this.#isRefused()
  }

  end(): RequestScan {
    this.#cutter.end()
    this.#refuseMistake()
    if (this.#refused !== undefined) return this.#refused
    const { length } = this.#cutter
    if (length === 0) return refuse(40000, 'the request body is empty')
    if (!this.#cutter.isWhole)
      return refuse(40000, 'the form cannot be read: it ends before its last boundary')
    if (this.#model === undefined) return refuse(40002, 'model is required')
    if (this.#model === '') return refuse(40002, 'model must not be empty')
    const [wanted] = this.#reading.files
    if (!this.#files.some(({ name }) => name === wanted))
      return refuse(40000, `${wanted} is required: a file, with its name`)
    return this.#scanned(this.#model, length)
  }

  #refuseMistake(): void {
    const { mistake } = this.#cutter
    if (mistake !== undefined) this.#refuse(40000, `the form cannot be read: ${mistake}`)
  }

  #begin({ name, isFile }: FormPart): void {
    this.#parts += 1
    const plain = plainName(name)
    const known = this.#knownAs(plain)
    const why = Object.hasOwn(this.#reading.refused, plain) ? this.#reading.refused[plain] : undefined
    if (this.#parts > PARTS_MAX) this.#refuse(40000, `a form may have up to ${PARTS_MAX} parts`)
    else if (known !== plain)
      this.#refuse(40000, `${JSON.stringify(name)}: field names are lower case, with no space around them`)
    else if (why !== undefined) this.#refuse(40000, `${plain}: ${why}`)
    else if (isFile && isRead(plain)) this.#refuse(40000, `${plain} must be a text, not a file`)
    else if (name !== plain && isRead(plain)) this.#refuse(40000, `${plain} must not be a list`)
    else if (!isFile && this.#reading.files.includes(plain))
      this.#refuse(40000, `${plain} must be a file, with its name`)
    else if (isRead(name) && this.#seen.has(name)) this.#refuse(40000, `${name} must be given once`)
    this.#seen.add(name)
  }

  /** The known name that this one differs from only in case and spaces; else the name itself. */
  #knownAs(name: string): string {
    const lower = name.trim().toLowerCase()
    const { files, refused } = this.#reading
    const known = isRead(lower) || files.includes(lower) || Object.hasOwn(refused, lower)
    return known ? lower : name
  }

  #take({ name, isFile }: FormPart, span: Span, text: Uint8Array | undefined): void {
    if (this.#isRefused()) return
    if (isFile) {
      this.#files.push({ name: plainName(name), ...span })
      return
    }
    if (text === undefined) {
      if (isRead(name)) this.#refuse(40000, `${name} is longer than ${FIELD_BYTES_MAX} bytes`)
      this.#unread.add(name)
      return
    }
    // Only known fields are read, at any position.
    if (!isRead(name)) {
      this.#fieldBytes += text.byteLength
      if (this.#fieldBytes > FIELDS_BYTES_MAX) {
        this.#unread.add(name)
        return
      }
    }
    const value = new TextDecoder().decode(text)
    if (name === 'model') {
      this.#model = value
      this.#modelSpans.push(span)
    } else if (name === 'stream' && !/^(?:true|false)?$/i.test(value))
      this.#refuse(40000, 'stream must be true or false')
    else if (name === 'n' && value !== '' && countInText(value) === undefined)
      this.#refuse(40000, 'n must be a whole number from 1 on')
    else if (name === '_charset_' && !UTF_8.test(value))
      this.#refuse(40000, 'the fields of a form must be UTF-8')
    else this.#fields.set(name, value)
  }

  #scanned(model: string, length: number): ScannedRequest {
    const fileBytes = this.#files.reduce((sum, { start, end }) => sum + end - start, 0)
    const user = this.#fields.get('user')
    return {
      kind: 'scanned',
      model,
      modelSpans: this.#modelSpans,
      resourceSpans: [],
      stream: this.#fields.get('stream')?.toLowerCase() === 'true',
      user: user?.slice(0, USER_CHARACTERS_MAX),
      maxOutputTokens: undefined,
      candidates: countInText(this.#fields.get('n')),
      candidatesUncertain: false,
      previousResponseId: undefined,
      forget: false,
      background: false,
      streamOptions: { rootStart: 0, value: undefined },
      bodyBytes: length,
      mediaBytes: fileBytes,
      mediaCount: this.#files.length,
      items: 0,
      repeatedBytes: 0,
      spokenCharacters: 0,
      spokenBytes: 0,
      extras: NO_EXTRAS,
      references: [],
      values: this.#parts,
      form: {
        contentType: this.#contentType,
        files: this.#files,
        fields: this.#fields,
        unread: [...this.#unread],
      },
    }
  }

  #isRefused(): boolean {
    return this.#refused !== undefined
  }

  #refuse(code: RefusedRequest['code'], message: string): void {
    this.#refused ??= refuse(code, message)
  }
}

/** `image[]` is an element of a list. */
function plainName(name: string): string {
  return name.replace(/\[\d*\]$/, '')
}

function isRead(name: string): boolean {
  return name === 'model' || SINGLE.includes(name)
}

function refuse(code: RefusedRequest['code'], message: string): RefusedRequest {
  return { kind: 'refused', code, message }
}

function refusing(refusal: RefusedRequest): RequestScanner {
  return { push: () => false, end: () => refusal }
}
