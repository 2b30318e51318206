import { NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { type AccountBody, type AnyAccount, changeAccount } from '../../api/operator/accounts.ts'
import { plansQuery } from '../../api/operator/plans.ts'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { FormFrame } from '../../parts/forms/form-frame.tsx'
import form from '../../parts/forms/form.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { PasswordField } from '../../parts/identity/password-field.tsx'
import { PolicyFields } from '../../parts/limits/policy-fields.tsx'
import { type PolicyValues, policyBodyOf, policyValuesOf } from '../../parts/limits/policy-values.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { namesOf } from '../parts/account-name.ts'
import { useCurrencySign } from '../../parts/values/use-currency.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface EditAccountProps {
  readonly of: AnyAccount
  readonly renew: () => Promise<unknown>
  readonly onClose: () => void
}

type EditValues = {
  readonly email: string
  readonly phone: string
  /** Empty: unchanged. */
  readonly password: string
  readonly role: string
  readonly verification: AnyAccount['verification']
  readonly user_rate: number | string
  readonly monthly_cap_yuan: number | string
  readonly api_deduction: boolean
  /** Empty: none. */
  readonly plan: string
  readonly days: number | string
  readonly limits: PolicyValues
}

const VERIFICATIONS = ['none', 'personal', 'enterprise'] as const
const ROLES = ['user', 'admin'] as const
const PLAN_DAYS = 30

/** The settings of an account that operators change; only changed fields are sent. */
export function EditAccount({ of, renew, onClose }: EditAccountProps) {
  const { t } = useTranslation()
  const initial = valuesOf(of)
  const values = useForm<EditValues>({
    initialValues: initial,
    validate: {
      email: (email) => (initial.email !== '' && email.trim() === '' ? t('accounts.loginStays') : null),
      phone: (phone) => (initial.phone !== '' && phone.trim() === '' ? t('accounts.loginStays') : null),
      limits: { windows: { limit: (limit) => (limit === '' ? t('keys.limitWanted') : null) } },
    },
  })
  const sending = useSubmit(values, {
    send: (next) => changeAccount(of.id, changesOf(initial, next)),
    onDone: () => {
      inBackground(renew())
      onClose()
    },
  })
  return (
    <Dialog title={t('accounts.editTitle', { name: namesOf(of).name })} size={640} onClose={onClose}>
      <FormFrame sending={sending} onClose={onClose}>
        {of.kind === 'person' && <SignIn values={values} />}
        <Standing of={of} values={values} />
        <Charges of={of} values={values} />
        <Plan of={of} values={values} />
        <Switch
          label={t('accounts.deduct')}
          description={t('accounts.deductHint')}
          {...values.getInputProps('api_deduction', { type: 'checkbox' })}
        />
        <div className={form.part}>
          <h3>{t('accounts.limits')}</h3>
          <p className={form.hint}>{t('accounts.limitsHint')}</p>
          <PolicyFields form={values} place="limits" of={values.values.limits} />
        </div>
      </FormFrame>
    </Dialog>
  )
}

interface PartProps {
  readonly of: AnyAccount
  readonly values: UseFormReturnType<EditValues>
}

/** E-mail address and phone number. */
function SignIn({ values }: Pick<PartProps, 'values'>) {
  const { t } = useTranslation()
  return (
    <>
      <div className={form.row}>
        <TextInput label={t('signIn.email')} type="email" {...values.getInputProps('email')} />
        <TextInput label={t('accounts.phone')} {...values.getInputProps('phone')} />
      </div>
      <PasswordField
        label={t('accounts.newPassword')}
        description={t('accounts.newPasswordHint')}
        autoComplete="new-password"
        {...values.getInputProps('password')}
      />
    </>
  )
}

/** Permissions and verification. */
function Standing({ of, values }: PartProps) {
  const { t } = useTranslation()
  return (
    <div className={form.row}>
      {of.kind === 'person' && (
        <Select
          label={t('accounts.role')}
          data={ROLES.map((value) => ({ value, label: t(`accounts.roles.${value}`) }))}
          {...values.getInputProps('role')}
        />
      )}
      <Select
        label={t('accounts.verification')}
        data={VERIFICATIONS.map((value) => ({ value, label: t(`accounts.verifications.${value}`) }))}
        {...values.getInputProps('verification')}
      />
    </div>
  )
}

function Charges({ values }: PartProps) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  return (
    <div className={form.row}>
      <NumberInput
        label={t('accounts.rate')}
        description={t('accounts.rateHint')}
        suffix=" %"
        min={0}
        decimalScale={6}
        {...values.getInputProps('user_rate')}
      />
      <NumberInput
        label={t('accounts.cap')}
        description={t('accounts.capHint')}
        prefix={sign}
        min={0}
        decimalScale={6}
        {...values.getInputProps('monthly_cap_yuan')}
      />
    </div>
  )
}

function Plan({ of, values }: PartProps) {
  const { t } = useTranslation()
  const { data: plans = [] } = useQuery(plansQuery)
  const codes = new Set([...plans.map(({ code }) => code), ...(of.plan === null ? [] : [of.plan])])
  const { plan } = values.values
  return (
    <div className={form.row}>
      <Select
        label={t('overview.plan')}
        data={[
          { value: '', label: t('overview.noPlan') },
          ...[...codes].map((code) => ({ value: code, label: code })),
        ]}
        {...values.getInputProps('plan')}
      />
      {plan !== '' && plan !== of.plan && (
        <NumberInput
          label={t('accounts.planDays')}
          min={1}
          allowDecimal={false}
          {...values.getInputProps('days')}
        />
      )}
    </div>
  )
}

function valuesOf(of: AnyAccount): EditValues {
  return {
    email: of.email ?? '',
    phone: of.phone ?? '',
    password: '',
    role: of.role,
    verification: of.verification,
    user_rate: of.user_rate,
    monthly_cap_yuan: of.monthly_cap_yuan,
    api_deduction: of.api_deduction,
    plan: of.plan ?? '',
    days: PLAN_DAYS,
    limits: policyValuesOf(of.limits),
  }
}

function changesOf(before: EditValues, after: EditValues): AccountBody {
  const { role, verification, user_rate: rate, monthly_cap_yuan: cap, api_deduction: deduct, plan } = after
  const login = (name: 'email' | 'phone'): AccountBody =>
    after[name] === before[name] ? {} : { [name]: after[name].trim() }
  return {
    ...login('email'),
    ...login('phone'),
    ...(after.password === '' ? {} : { password: after.password }),
    ...(role === before.role ? {} : { role: role === 'admin' ? 'admin' : 'user' }),
    ...(verification === before.verification ? {} : { verification }),
    ...(String(rate) === before.user_rate ? {} : { user_rate: String(rate) }),
    ...(String(cap) === before.monthly_cap_yuan ? {} : { monthly_cap_yuan: cap === '' ? 0 : String(cap) }),
    ...(deduct === before.api_deduction ? {} : { api_deduction: deduct }),
    ...(plan === before.plan
      ? {}
      : { subscription: plan === '' ? null : { plan, days: Number(after.days) } }),
    ...(JSON.stringify(after.limits) === JSON.stringify(before.limits)
      ? {}
      : { limits: policyBodyOf(after.limits) }),
  }
}
