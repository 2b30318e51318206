/** One HTTP request as a provider folder builds it: plain data, sent and signed by `upstream/`. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'PUT'
  /** Absolute address. */
  readonly url: string
  /** Lower-case names. Without credentials: those are data in `auth`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** How a request is authenticated; signing needs a clock and a hash, so `upstream/` does it. */
export type Auth =
  | { readonly kind: 'bearer' }
  /** `prefix` precedes the key and includes the space between them: `Token `. */
  | { readonly kind: 'header'; readonly name: string; readonly prefix?: string }
  | { readonly kind: 'none' }
  /** Signed with a pair of keys; a credential that is a plain key is sent as it is. */
  | { readonly kind: 'jwt-hs256' }
  | { readonly kind: 'volc-hmac'; readonly service: string; readonly region: string }
  | { readonly kind: 'google-oauth' }
  | { readonly kind: 'aws-sigv4'; readonly service: string }
