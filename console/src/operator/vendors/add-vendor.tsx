import { Select, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { addVendor, putCredential, type VendorKind } from '../../api/operator/catalogue.ts'
import form from '../../parts/forms/form.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { FormSheet } from '../parts/form-sheet.tsx'
import { SecretFields } from './secret-fields.tsx'
import { emptySecrets, type SecretValues, secretBodyOf } from './secret-values.ts'
import { useSecretRules } from './use-secret-rules.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface AddVendorProps {
  readonly kinds: readonly VendorKind[]
  /** The kind chosen at first; undefined: none. */
  readonly first: VendorKind | undefined
  readonly onClose: () => void
  readonly onMade: (code: string) => void
}

type VendorValues = SecretValues & {
  readonly kind: string
  readonly code: string
  readonly name: string
  readonly base_url: string
}

const FIRST_CREDENTIAL = 'main'

/** Adds a vendor of a known kind with its first credential. */
export function AddVendor({ kinds, first, onClose, onMade }: AddVendorProps) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const values = useForm<VendorValues>({
    initialValues: {
      kind: first?.kind ?? '',
      code: first?.kind ?? '',
      name: '',
      base_url: '',
      ...emptySecrets(first),
    },
    validate: useVendorRules(kinds),
  })
  const kind = kinds.find((each) => each.kind === values.values.kind)
  const sending = useSubmit(values, {
    send: async (next) => {
      const { code } = await addVendor({
        kind: next.kind,
        code: next.code.trim(),
        ...(next.name.trim() === '' ? {} : { name: next.name.trim() }),
        ...(next.base_url.trim() === '' ? {} : { base_url: next.base_url.trim() }),
      })
      await putCredential({ vendor: code, name: FIRST_CREDENTIAL, ...secretBodyOf(next, kind) })
      return code
    },
    onDone: (code) => {
      inBackground(queryClient.invalidateQueries({ queryKey: ['vendors'] }))
      inBackground(queryClient.invalidateQueries({ queryKey: ['credentials'] }))
      onMade(code)
    },
  })
  return (
    <FormSheet title={t('vendors.add')} action={t('vendors.add')} sending={sending} onClose={onClose}>
      <Identity kinds={kinds} kind={kind} values={values} />
      {kind !== undefined && (
        <div className={form.part}>
          <h3>{t('vendors.credential')}</h3>
          <SecretFields form={values} of={kind} stored={false} />
        </div>
      )}
    </FormSheet>
  )
}

/** Validation of a vendor, depending on its kind. */
function useVendorRules(kinds: readonly VendorKind[]) {
  const { t } = useTranslation()
  const wanting = useSecretRules()
  return (next: VendorValues) => {
    const chosen = kinds.find((each) => each.kind === next.kind)
    if (chosen === undefined) return { kind: t('vendors.kindWanted') }
    const needsAddress = chosen.base_url === null && next.base_url.trim() === ''
    return {
      ...(next.code.trim() === '' ? { code: t('vendors.codeWanted') } : {}),
      ...(needsAddress ? { base_url: t('vendors.fieldWanted') } : {}),
      ...wanting(next, chosen),
    }
  }
}

interface IdentityProps {
  readonly kinds: readonly VendorKind[]
  readonly kind: VendorKind | undefined
  readonly values: UseFormReturnType<VendorValues>
}

function Identity({ kinds, kind, values }: IdentityProps) {
  const { t } = useTranslation()
  const choose = (next: string | null): void => {
    const chosen = kinds.find((each) => each.kind === next)
    if (chosen === undefined) return
    const code =
      values.values.code === '' || values.values.code === kind?.kind ? chosen.kind : values.values.code
    values.setValues({ kind: chosen.kind, code, ...emptySecrets(chosen) })
  }
  return (
    <>
      <Select
        searchable
        label={t('vendors.kind')}
        data={kinds.map((each) => ({ value: each.kind, label: each.name }))}
        {...values.getInputProps('kind')}
        onChange={choose}
      />
      <div className={form.row}>
        <TextInput
          label={t('vendors.code')}
          description={t('vendors.codeHint')}
          {...values.getInputProps('code')}
        />
        <TextInput
          label={t('vendors.name')}
          description={t('vendors.nameHint')}
          placeholder={kind?.name ?? ''}
          {...values.getInputProps('name')}
        />
      </div>
      <TextInput
        label={t('vendors.address')}
        description={t(kind?.base_url === null ? 'vendors.addressWanted' : 'vendors.addressHint')}
        placeholder={kind?.base_url ?? 'https://'}
        {...values.getInputProps('base_url')}
      />
    </>
  )
}
