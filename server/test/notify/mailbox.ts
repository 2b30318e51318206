/** A real mail server on loopback, and what was delivered to it. */
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

export interface Mailbox {
  /** For `SLUICE_SMTP_URL`. */
  readonly url: string
  readonly mails: Email[]
  /** The next mail to this address that nobody asked for yet; waits for it. */
  next(to: string): Promise<Email>
  close(): Promise<void>
}

const USER = 'mailer'
const PASSWORD = 'p@ss/word'
const PATIENCE_MS = 60_000

export async function openMailbox(): Promise<Mailbox> {
  const mails: Email[] = []
  const unread: Email[] = []
  const waiting: { readonly to: string; readonly give: (mail: Email) => void }[] = []

  const deliver = (mail: Email): void => {
    mails.push(mail)
    const index = waiting.findIndex(({ to }) => isTo(mail, to))
    const [waiter] = index < 0 ? [] : waiting.splice(index, 1)
    if (waiter === undefined) unread.push(mail)
    else waiter.give(mail)
  }
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) => {
      if (username === USER && password === PASSWORD) done(null, { user: username })
      else done(new Error('wrong user or password'))
    },
    onData: (stream, _session, finish) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        PostalMime.parse(Buffer.concat(chunks)).then((mail) => {
          deliver(mail)
          finish()
        }, finish)
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`,
    mails,
    next(to) {
      const index = unread.findIndex((mail) => isTo(mail, to))
      const [found] = index < 0 ? [] : unread.splice(index, 1)
      if (found !== undefined) return Promise.resolve(found)
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`no mail to ${to} came`)), PATIENCE_MS)
        waiting.push({
          to,
          give: (mail) => {
            clearTimeout(late)
            resolve(mail)
          },
        })
      })
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function isTo(mail: Email, address: string): boolean {
  return mail.to?.some((to) => to.address === address) ?? false
}

/** The only run of exactly six digits in a text. */
export function codeIn(text: string | undefined): string {
  const runs = [...(text ?? '').matchAll(/(?<!\d)\d{6}(?!\d)/g)].map(([code]) => code)
  const [code] = runs
  if (runs.length !== 1 || code === undefined) throw new Error(`no single code in: ${text ?? 'nothing'}`)
  return code
}
