/** A gateway that mails to a real mail server, and a password that people of a test have. */
import { Secret } from '../../src/core/secret.ts'
import { hashPassword } from '../../src/management/accounts/passwords.ts'
import { type GatewayOptions, openGateway, type TestGateway } from '../gateway/gateway.ts'
import { openMailbox } from '../notify/mailbox.ts'
import { type Desk, PASSWORD } from './person.ts'

export interface OpenDesk extends Desk {
  readonly gateway: TestGateway
  /** Of `PASSWORD`: made once, since making it is meant to take long. */
  readonly passwordHash: string
  close(): Promise<void>
}

/** `environment`: beside the mail server's. */
export async function openDesk({ environment, ...options }: GatewayOptions = {}): Promise<OpenDesk> {
  const mailbox = await openMailbox()
  const gateway = await openGateway({
    ...options,
    environment: {
      SLUICE_SMTP_URL: mailbox.url,
      SLUICE_MAIL_FROM: 'codes@sluice.example',
      ...environment,
    },
  })
  return {
    baseUrl: gateway.baseUrl,
    mailbox,
    gateway,
    passwordHash: await hashPassword(new Secret(PASSWORD)),
    async close() {
      await gateway.close()
      await mailbox.close()
    },
  }
}
