/** A message of the gateway as a rule with its values; the texts have a sentence for each rule, in every language. */
export interface Said {
  readonly rule: string
  /** A value may itself be a rule with values. */
  readonly values: Readonly<Record<string, string | number | Said>>
}

/** An invalid field of the request, by the name that the gateway gives it. */
export interface FieldFault {
  readonly in: string
  /** `policy.windows.0.limit`; empty: the whole body, query or path. */
  readonly path: string
  readonly message: string
  /** undefined: there is only the message. */
  readonly said: Said | undefined
}

/** Why a request failed. */
export class ApiError extends Error {
  /** From the error catalogue; 0: there was no answer. */
  readonly code: number
  readonly status: number
  /** The id under which the operator finds the request in the log; undefined: there was no answer. */
  readonly requestId: string | undefined
  readonly faults: readonly FieldFault[]
  /** The message as a rule; undefined: there is only the message. */
  readonly said: Said | undefined
  /** Seconds after which to try again, if the gateway says so. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    told: Pick<ApiError, 'code' | 'status' | 'requestId' | 'faults' | 'said' | 'retryAfterSeconds'> & {
      readonly cause?: unknown
    },
  ) {
    super(message, { cause: told.cause })
    this.name = 'ApiError'
    this.code = told.code
    this.status = told.status
    this.requestId = told.requestId
    this.faults = told.faults
    this.said = told.said
    this.retryAfterSeconds = told.retryAfterSeconds
  }

  static unreachable(cause: unknown): ApiError {
    return new ApiError('the gateway cannot be reached', {
      code: 0,
      status: 0,
      requestId: undefined,
      faults: [],
      said: undefined,
      retryAfterSeconds: undefined,
      cause,
    })
  }

  static of(body: unknown, response: Response): ApiError {
    const told = isRecord(body) ? body : {}
    const inner = isRecord(told['error']) ? told['error'] : {}
    const retryAfter = Number(response.headers.get('retry-after'))
    return new ApiError(textOf(told['message']) ?? textOf(inner['message']) ?? response.statusText, {
      code: typeof told['code'] === 'number' ? told['code'] : Number(inner['code'] ?? 0),
      status: response.status,
      requestId: textOf(inner['request_id']) ?? response.headers.get('x-request-id') ?? undefined,
      faults: faultsOf(inner['details']),
      said: saidOf(inner['details']),
      retryAfterSeconds: Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : undefined,
    })
  }

  /** The session has ended, or there was none. */
  get isSignedOut(): boolean {
    return this.status === 401 && (this.code === 40001 || this.code === 40101)
  }

  /** The request needs a session that has just begun. */
  get isSessionStale(): boolean {
    return this.code === 40309
  }
}

function faultsOf(details: unknown): readonly FieldFault[] {
  const fields = isRecord(details) ? details['fields'] : undefined
  if (!Array.isArray(fields)) return []
  return fields.filter(isRecord).map((field) => ({
    in: textOf(field['in']) ?? '',
    path: textOf(field['path']) ?? '',
    message: textOf(field['message']) ?? '',
    said: saidOf(field),
  }))
}

/** The rule of an error, an invalid field or a warning; undefined: there is only a message. */
export function saidOf(told: unknown): Said | undefined {
  if (!isRecord(told)) return undefined
  const rule = textOf(told['rule'])
  if (rule === undefined) return undefined
  const values = isRecord(told['values']) ? told['values'] : {}
  return {
    rule,
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, valueOf(value)])),
  }
}

function valueOf(value: unknown): string | number | Said {
  if (typeof value === 'number') return value
  return saidOf(value) ?? textOf(value) ?? ''
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
