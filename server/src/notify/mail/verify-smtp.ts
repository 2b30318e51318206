import type { Secret } from '../../core/secret.ts'

const TIMEOUT_MS = 10_000

/** Connects, greets and signs in, but sends nothing. Rejects with the server's own message. */
export async function verifyMailServer(smtpUrl: Secret): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url: smtpUrl.unwrap(),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}
