/** Texts for invited people, in English and Chinese, because their language is unknown. */
import type { MemberRole } from '../../storage/stores/organisations.ts'
import type { MessageText } from '../identity/messages/message-texts.ts'

const ROLES: Readonly<Record<MemberRole, { readonly english: string; readonly chinese: string }>> = {
  owner: { english: 'an owner', chinese: '所有者' },
  admin: { english: 'an admin', chinese: '管理员' },
  member: { english: 'a member', chinese: '成员' },
}

export interface InvitationFacts {
  /** Checked when it was set: short, one line, without addresses. */
  readonly organisation: string
  readonly inviter: string
  readonly role: MemberRole
  readonly token: string
  /** Epoch ms. */
  readonly expiresAt: number
  readonly publicUrl: string | undefined
  /** Address of the page for accepting the invitation; undefined: there is no console. */
  readonly consoleUrl: string | undefined
}

/** The token is on a line of its own, and in the address only in the fragment, which servers do not see or log. */
export function invitationText(facts: InvitationFacts): MessageText {
  const { organisation, inviter, role, token, expiresAt, publicUrl, consoleUrl } = facts
  const { english, chinese } = ROLES[role]
  const until = `${new Date(expiresAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const where = publicUrl === undefined ? '' : ` at ${publicUrl}`
  const address = publicUrl === undefined ? '' : `（${publicUrl}）`
  return {
    subject: `Join ${organisation} · 加入 ${organisation}`,
    text: [
      `${inviter} invites you to be ${english} of “${organisation}”. Sign in${where} with the account of this e-mail address, or make one with it, and accept with this invitation until ${until}:`,
      '',
      token,
      ...(consoleUrl === undefined ? [] : [`${consoleUrl}/organisation#invitation=${token}`]),
      '',
      `${inviter} 邀请您以${chinese}身份加入「${organisation}」。请使用此邮箱对应的账号登录${address}（没有账号可先注册），并在 ${until} 之前用上面的邀请码接受邀请。`,
      '',
      'Do not share it. If you do not know who this is, you can ignore this message. · 请勿转给他人；如不认识邀请人，请忽略此邮件。',
    ].join('\n'),
  }
}
