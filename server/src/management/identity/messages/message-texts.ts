/** Texts of messages, each in English and Chinese, because the language is unknown before signing in. */
import type { CodePurpose } from '../../../storage/stores/identity.ts'

export interface MessageText {
  readonly subject: string
  readonly text: string
}

const ACTS: Readonly<Record<CodePurpose, { readonly english: string; readonly chinese: string }>> = {
  register: { english: 'create your account', chinese: '注册账号' },
  sign_in: { english: 'sign in', chinese: '登录' },
  reset_password: { english: 'set a new password', chinese: '重置密码' },
  change_email: { english: 'use this e-mail address for your account', chinese: '更换邮箱' },
  change_phone: { english: 'use this phone number for your account', chinese: '更换手机号' },
}

/** It contains no other six digits. */
export function codeText(purpose: CodePurpose, code: string): MessageText {
  const { english, chinese } = ACTS[purpose]
  return {
    subject: `Your code to ${english} · ${chinese}验证码`,
    text: [
      `${code} is your code to ${english}. It is valid for 10 minutes. Do not share it; if you did not ask for it, you can ignore this message.`,
      '',
      `上面的数字是您用于${chinese}的验证码，10 分钟内有效。请勿告诉任何人；如非本人操作，请忽略。`,
    ].join('\n'),
  }
}

/** One line: SMS are charged by length. */
export function codeLine(code: string): string {
  return `${code} is your code, valid for 10 minutes. 验证码 10 分钟内有效，请勿告诉他人。`
}

export const ALREADY_REGISTERED: MessageText = {
  subject: 'You already have an account · 您已有账号',
  text: [
    'Somebody, perhaps you, tried to register with this address. It already has an account: sign in, or set a new password if you forgot yours.',
    '',
    '有人（可能是您）尝试用此邮箱注册。该邮箱已有账号：请直接登录，如忘记密码可重置。',
  ].join('\n'),
}

export const PASSWORD_CHANGED: MessageText = {
  subject: 'Your password was changed · 您的密码已更改',
  text: [
    'The password of your account was changed and every session has ended. If that was not you, set a new password now.',
    '',
    '您的账号密码已更改，所有登录均已退出。如非本人操作，请立即重置密码。',
  ].join('\n'),
}

export const EMAIL_CHANGED: MessageText = {
  subject: 'The e-mail address of your account was changed · 您的账号邮箱已更换',
  text: [
    'This address no longer belongs to your account. If that was not you, contact the operator of this service now.',
    '',
    '此邮箱已不再与您的账号关联。如非本人操作，请立即联系服务运营方。',
  ].join('\n'),
}

export function factorChangedText(what: string): MessageText {
  return {
    subject: 'A second factor of your account was changed · 您的两步验证已变更',
    text: [
      `${what}. If that was not you, sign in, end all other sessions and set a new password now.`,
      '',
      '您的两步验证设置已变更。如非本人操作，请立即登录、退出其他设备并重置密码。',
    ].join('\n'),
  }
}

/** To administrators. */
export function textBudgetText({
  period,
  used,
  limit,
}: {
  readonly period: 'day' | 'month'
  readonly used: number
  readonly limit: number
}): MessageText {
  const name = period === 'day' ? 'SLUICE_SMS_DAY_LIMIT' : 'SLUICE_SMS_MONTH_LIMIT'
  return {
    subject: `${used} of ${limit} text messages of this ${period} were sent · 短信额度提醒`,
    text: [
      `${used} text messages were sent this ${period}; ${limit} are allowed (${name}). When they are used up, codes are sent by e-mail only. If you did not expect this, find out who asks for them, in the security events code.limited and message.refused.`,
      '',
      `本${period === 'day' ? '日' : '月'}已发送短信 ${used} 条，上限 ${limit} 条（${name}）。达到上限后将不再发送短信验证码。`,
    ].join('\n'),
  }
}

/** @param facts those of `ReceiptFacts`; `given` and `until` are optional */
export function receiptText(facts: Readonly<Record<string, string | number>>): MessageText {
  const { item = '', paid = '', paid_at: at = '', reference = '', given, until } = facts
  return {
    subject: `Receipt: ${paid} · 收据`,
    text: [
      `Thank you: ${paid} was paid for ${item} on ${at}.`,
      ...(given === undefined ? [] : [`Your account was given ${given}.`]),
      ...(until === undefined ? [] : [`It is valid until ${until}.`]),
      `Reference: ${reference}`,
      '',
      `感谢您的付款：${item}，${paid}（${at}）。`,
      ...(given === undefined ? [] : [`已到账：${given}`]),
      ...(until === undefined ? [] : [`有效期至：${until}`]),
      `编号：${reference}`,
      '',
      'Receipts can be turned off in the settings of the account. 可在账号设置中关闭收据邮件。',
    ].join('\n'),
  }
}
