import { NumberInput, Select, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { addAccount } from '../../api/operator/accounts.ts'
import form from '../../parts/forms/form.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { PasswordField } from '../../parts/identity/password-field.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { FormSheet } from '../parts/form-sheet.tsx'
import { useCurrencySign } from '../../parts/values/use-currency.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface AddAccountProps {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}

type AddValues = {
  readonly email: string
  readonly phone: string
  readonly password: string
  readonly role: 'user' | 'admin'
  readonly credits: number | string
  readonly balance: number | string
  readonly user_rate: number | string
}

/** Creates a person's account. Organisations are created by the person who will own them. */
export function AddAccount({ onClose, onMade }: AddAccountProps) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const values = useForm<AddValues>({
    initialValues: {
      email: '',
      phone: '',
      password: '',
      role: 'user',
      credits: '',
      balance: '',
      user_rate: 100,
    },
    validate: {
      email: (email, { phone }) =>
        email.trim() === '' && phone.trim() === '' ? t('accounts.contactWanted') : null,
    },
  })
  const sending = useSubmit(values, {
    send: ({ email, phone, password, role, credits, balance, user_rate: rate }) =>
      addAccount({
        role,
        ...text('email', email),
        ...text('phone', phone),
        ...text('password', password),
        ...text('credits', String(credits)),
        ...text('balance', String(balance)),
        ...text('user_rate', String(rate)),
      }),
    onDone: ({ id }) => {
      inBackground(queryClient.invalidateQueries({ queryKey: ['accounts'] }))
      onMade(id)
    },
  })
  return (
    <FormSheet title={t('accounts.add')} action={t('accounts.add')} sending={sending} onClose={onClose}>
      <Person values={values} />
      <Beginning values={values} />
    </FormSheet>
  )
}

interface PartProps {
  readonly values: UseFormReturnType<AddValues>
}

/** Name, and how the person signs in. */
function Person({ values }: PartProps) {
  const { t } = useTranslation()
  return (
    <>
      <TextInput label={t('signIn.email')} type="email" data-autofocus {...values.getInputProps('email')} />
      <TextInput
        label={t('accounts.phone')}
        description={t('accounts.phoneHint')}
        {...values.getInputProps('phone')}
      />
      <PasswordField
        label={t('signIn.password')}
        description={t('accounts.passwordHint')}
        autoComplete="new-password"
        {...values.getInputProps('password')}
      />
      <Select
        label={t('accounts.role')}
        description={t('accounts.roleHint')}
        data={(['user', 'admin'] as const).map((value) => ({ value, label: t(`accounts.roles.${value}`) }))}
        {...values.getInputProps('role')}
      />
    </>
  )
}

/** Initial funds and permissions. */
function Beginning({ values }: PartProps) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  return (
    <>
      <div className={form.row}>
        <NumberInput label="Credits" min={0} decimalScale={6} {...values.getInputProps('credits')} />
        <NumberInput
          label={t('accounts.balance')}
          prefix={sign}
          min={0}
          decimalScale={6}
          {...values.getInputProps('balance')}
        />
      </div>
      <NumberInput
        label={t('accounts.rate')}
        description={t('accounts.rateHint')}
        suffix=" %"
        min={0}
        decimalScale={6}
        {...values.getInputProps('user_rate')}
      />
    </>
  )
}

/** Empty fields are not sent. */
function text<Name extends string>(name: Name, value: string): { [Key in Name]?: string } {
  // The computed name is a member of the type.
  return value.trim() === '' ? {} : ({ [name]: value.trim() } as { [Key in Name]: string })
}
