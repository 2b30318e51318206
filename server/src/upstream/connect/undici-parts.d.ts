/** Files of undici of which it describes only the names that its entry gives them. */
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici'
  export default Client
}
declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici'
  export default buildConnector
}
declare module 'undici/lib/api/api-connect.js' {
  import type { Client, Dispatcher } from 'undici'
  /** A method of connections, which undici's entry gives them. */
  export default function connect(
    this: Client,
    options: { readonly path: string; readonly headers: Readonly<Record<string, string>> },
    callback: (error: Error | null, answer: Dispatcher.ConnectData) => void,
  ): void
}
