/** The available drivers: a new one is a folder and a line here. */
import { aliyun } from './aliyun/index.ts'
import type { SmsDriver } from './driver.ts'
import { twilio } from './twilio/index.ts'
import { webhook } from './webhook/index.ts'

export const smsDrivers: readonly SmsDriver[] = [aliyun, twilio, webhook]
