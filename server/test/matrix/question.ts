/** What every official client is asked in the protocol matrix, and what each heard. */
export interface Question {
  readonly text: string
  readonly system?: string
  /** An exchange before it. */
  readonly before?: { readonly question: string; readonly answer: string }
  /** An earlier answer, sent back; its calls get `RESULT`, else `next` is asked. */
  readonly previous?: Heard
  readonly next?: string
  /** The result of a call is a picture. */
  readonly pictureResult?: boolean
  readonly tools?: boolean
  readonly image?: boolean
  readonly file?: boolean
  readonly effort?: boolean
  readonly json?: 'mode' | 'schema'
  readonly stop?: readonly string[]
  readonly maxTokens?: number
}

export interface Heard {
  readonly text: string
  readonly thought: string
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[]
  readonly end: string
  readonly refused: boolean
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number }
  /** Pieces of text a stream came in. */
  readonly pieces: number
  /** The answer's turn as this client sends it back. */
  readonly raw: readonly unknown[]
}

export interface Driver {
  ask(model: string, question: Question): Promise<Heard>
  stream(model: string, question: Question): Promise<Heard>
}

export interface Failure {
  readonly status: number | undefined
  readonly message: string
}

export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
export const PDF = 'JVBERi0xLjQgdGlueQ=='
export const RESULT = '21 degrees'
export const PICTURE_URL = `data:image/png;base64,${PIXEL}`
export const PARAMETERS = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const
export const SCHEMA = {
  type: 'object',
  properties: { celsius: { type: 'number' } },
  required: ['celsius'],
  additionalProperties: false,
} as const
