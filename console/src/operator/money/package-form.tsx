import { NumberInput, Switch, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { type Package, putPackage } from '../../api/operator/money.ts'
import form from '../../parts/forms/form.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { FormSheet } from '../parts/form-sheet.tsx'
import { useCurrencySign } from '../../parts/values/use-currency.ts'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../../parts/forms/segments.tsx'

type PackageValues = {
  readonly code: string
  readonly name: string
  readonly price: number | string
  readonly pool: 'credits' | 'yuan'
  readonly amount: number | string
  readonly onSale: boolean
}

interface PackageFormProps {
  /** undefined: a new package. */
  readonly of: Package | undefined
  readonly onClose: () => void
}

/** Price and content of a package; packages already bought keep their terms. */
export function PackageForm({ of, onClose }: PackageFormProps) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const values = useForm<PackageValues>({
    initialValues: {
      code: of?.code ?? '',
      name: of?.name ?? '',
      price: of?.price ?? '',
      pool: typeof of?.yuan === 'string' ? 'yuan' : 'credits',
      amount: of?.yuan ?? of?.credits ?? '',
      onSale: of?.status !== 'disabled',
    },
    validate: {
      code: (code) => (code.trim() === '' ? t('money.codeWanted') : null),
      name: (name) => (name.trim() === '' ? t('money.nameWanted') : null),
      price: (price) => (Number(price) > 0 ? null : t('money.amountWanted')),
      amount: (amount) => (Number(amount) > 0 ? null : t('money.amountWanted')),
    },
  })
  const sending = useSubmit(values, {
    send: ({ code, name, price, pool, amount, onSale }) =>
      putPackage(code.trim(), {
        name: name.trim(),
        price: String(price),
        [pool]: String(amount),
        status: onSale ? 'enabled' : 'disabled',
      }),
    onDone: () => {
      inBackground(queryClient.invalidateQueries({ queryKey: ['packages'] }))
      onClose()
    },
  })
  return (
    <FormSheet
      title={of === undefined ? t('money.addPackage') : t('money.editPackage', { name: of.name })}
      sending={sending}
      onClose={onClose}
    >
      <Fields values={values} isNew={of === undefined} />
    </FormSheet>
  )
}

interface FieldsProps {
  readonly values: UseFormReturnType<PackageValues>
  readonly isNew: boolean
}

function Fields({ values, isNew }: FieldsProps) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  return (
    <>
      <div className={form.row}>
        {isNew && <TextInput label={t('money.code')} {...values.getInputProps('code')} />}
        <TextInput label={t('money.name')} {...values.getInputProps('name')} />
      </div>
      <Segments
        aria-label={t('money.worth')}
        data={[
          { value: 'credits', label: 'Credits' },
          { value: 'yuan', label: t('money.balance') },
        ]}
        {...values.getInputProps('pool')}
      />
      <div className={form.row}>
        <NumberInput label={t('money.worth')} min={0} decimalScale={6} {...values.getInputProps('amount')} />
        <NumberInput
          label={t('money.price')}
          prefix={sign}
          min={0}
          decimalScale={2}
          {...values.getInputProps('price')}
        />
      </div>
      <Switch label={t('money.onSale')} {...values.getInputProps('onSale', { type: 'checkbox' })} />
    </>
  )
}
