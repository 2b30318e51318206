import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import {
  addCredential,
  type Credential,
  changeCredential,
  type VendorKind,
} from '../../api/operator/catalogue.ts'
import form from '../../parts/forms/form.module.css'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { PolicyFields } from '../../parts/limits/policy-fields.tsx'
import { type PolicyValues, policyBodyOf, policyValuesOf } from '../../parts/limits/policy-values.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { FormSheet } from '../parts/form-sheet.tsx'
import { SecretFields } from './secret-fields.tsx'
import { emptySecrets, type SecretValues, secretBodyOf } from './secret-values.ts'
import { useSecretRules } from './use-secret-rules.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface CredentialFormProps {
  readonly vendor: string
  readonly kind: VendorKind
  /** undefined: a new credential. */
  readonly of: Credential | undefined
  readonly onClose: () => void
}

type CredentialValues = SecretValues & { readonly name: string; readonly limits: PolicyValues }

/** The form of a credential; its secrets are write-only. */
export function CredentialForm({ vendor, kind, of, onClose }: CredentialFormProps) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const values = useForm<CredentialValues>({
    initialValues: {
      name: of?.name ?? '',
      limits: policyValuesOf(of?.limits ?? null),
      ...emptySecrets(kind),
    },
    validate: useCredentialRules(kind, of),
  })
  const sending = useSubmit(values, {
    send: (next) => {
      const body = { limits: policyBodyOf(next.limits), ...secretBodyOf(next, kind) }
      return of === undefined
        ? addCredential({ vendor, name: next.name.trim(), ...body })
        : changeCredential(of.id, body)
    },
    onDone: () => {
      inBackground(queryClient.invalidateQueries({ queryKey: ['credentials'] }))
      inBackground(queryClient.invalidateQueries({ queryKey: ['vendors'] }))
      onClose()
    },
  })
  return (
    <FormSheet
      title={of === undefined ? t('vendors.addCredential') : t('vendors.editCredential', { name: of.name })}
      sending={sending}
      onClose={onClose}
    >
      {of === undefined && (
        <TextInput label={t('keys.name')} data-autofocus {...values.getInputProps('name')} />
      )}
      <SecretFields form={values} of={kind} stored={of !== undefined} />
      <div className={form.part}>
        <h3>{t('keys.limits')}</h3>
        <p className={form.hint}>{t('vendors.limitsHint')}</p>
        <PolicyFields form={values} place="limits" of={values.values.limits} />
      </div>
    </FormSheet>
  )
}

/** A stored credential keeps the values of empty fields. */
function useCredentialRules(kind: VendorKind, of: Credential | undefined) {
  const { t } = useTranslation()
  const wanting = useSecretRules()
  return (next: CredentialValues) => ({
    ...(next.name.trim() === '' ? { name: t('keys.nameWanted') } : {}),
    ...Object.fromEntries(
      next.limits.windows.flatMap(({ limit }, index) =>
        limit === '' ? [[`limits.windows.${index}.limit`, t('keys.limitWanted')] as const] : [],
      ),
    ),
    ...(of === undefined ? wanting(next, kind) : {}),
  })
}
