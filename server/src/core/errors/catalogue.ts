/**
 * Every error the gateway itself makes: one table, from which the envelope, the reference page and the tests
 * are made (docs/reference/contract.md#7.1, #D-errors). An upstream's error is never in here: it passes through.
 */
export const ERRORS = {
  40000: { status: 400, title: 'invalid request', message: 'the request body is not valid' },
  40002: { status: 400, title: 'model missing', message: 'model is required' },
  40003: { status: 400, title: 'body unreadable', message: 'the request body is empty or cannot be read' },
  40004: {
    status: 422,
    title: 'idempotency key reused',
    message: 'this Idempotency-Key was used with another body',
  },
  40005: { status: 400, title: 'code not right', message: 'the code is wrong, or no longer valid' },
  40001: {
    status: 401,
    title: 'key missing',
    message: 'api_key is required: send Authorization: Bearer <API key>',
  },
  40101: { status: 401, title: 'key not found', message: 'this API key does not exist' },
  40102: { status: 401, title: 'key disabled', message: 'this API key is disabled' },
  40103: { status: 401, title: 'key expired', message: 'this API key has expired' },
  40104: {
    status: 401,
    title: 'sign-in refused',
    message: 'the account, the password or the code is wrong',
  },
  40202: {
    status: 403,
    title: 'no right to call',
    message: 'no active subscription, and API deduction access is off or Credits are not enough',
  },
  40203: {
    status: 403,
    title: 'model admission',
    message: 'this model has an entry requirement your account does not meet',
  },
  40301: {
    status: 403,
    title: 'group restriction',
    message: 'this API key is not bound to a group that may do this here',
  },
  40302: { status: 403, title: 'key restriction', message: 'this API key may not be used for this' },
  40303: { status: 403, title: 'account suspended', message: 'this account is suspended' },
  40304: { status: 403, title: 'wrong kind of caller', message: 'this caller may not do this' },
  40305: {
    status: 403,
    title: 'another site',
    message: 'a request with a session cookie must come from this site itself',
  },
  40306: {
    status: 403,
    title: 'link not valid',
    message: 'this link is not valid, or has expired',
  },
  40307: { status: 403, title: 'registration closed', message: 'nobody can register here' },
  40308: {
    status: 403,
    title: 'second factor missing',
    message: 'administrators need a second factor here: set one up, or sign in again and show it',
  },
  40309: {
    status: 403,
    title: 'session too old',
    message: 'sign in again first: this needs a session that has just begun',
  },
  40400: { status: 404, title: 'path not found', message: 'this path does not exist' },
  40401: { status: 404, title: 'not a video model', message: 'this model is not a video model' },
  40402: { status: 404, title: 'task not found', message: 'this video task does not exist or has expired' },
  40403: { status: 404, title: 'not found', message: 'nothing has this id' },
  40500: { status: 405, title: 'method not allowed', message: 'this path does not support this method' },
  40900: { status: 409, title: 'conflict', message: 'the resource is not in a state that allows this' },
  41301: { status: 413, title: 'body too large', message: 'the request body is larger than 100 MiB' },
  42901: { status: 429, title: 'concurrency', message: 'concurrency limit exceeded' },
  42902: { status: 429, title: 'policy limit', message: 'rpm limit exceeded' },
  42903: { status: 429, title: 'token window', message: 'token limit exceeded' },
  42904: {
    status: 429,
    title: 'upstream rate limited',
    message: 'every upstream of this model is rate limited right now',
  },
  42905: { status: 429, title: 'subscription quota', message: 'the quota of your subscription is used up' },
  42906: {
    status: 429,
    title: 'monthly cap',
    message: 'the monthly consumption cap of this account is reached',
  },
  42908: { status: 429, title: 'too many attempts', message: 'too many attempts, try again later' },
  42910: { status: 429, title: 'video seconds', message: 'the video seconds of this window are used up' },
  50000: { status: 500, title: 'internal error', message: 'something inside the gateway went wrong' },
  50201: { status: 502, title: 'no upstream', message: 'no available upstream for this model' },
  50210: { status: 410, title: 'video gone', message: 'the finished video is no longer available upstream' },
  50301: { status: 503, title: 'unavailable', message: 'the gateway cannot take calls right now' },
  50401: { status: 504, title: 'upstream timeout', message: 'the upstream did not answer in time' },
} as const satisfies Record<
  number,
  { readonly status: number; readonly title: string; readonly message: string }
>

/** A gateway error code (docs/reference/contract.md#7.1). */
export type ErrorCode = keyof typeof ERRORS
