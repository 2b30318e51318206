import { FileInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useOrganisationId } from '../../api/session.ts'
import { askVerification, type VerificationKind, verificationQuery } from '../../api/verification.ts'
import { FormFrame } from '../../parts/forms/form-frame.tsx'
import { useSubmit } from '../../parts/forms/use-submit.ts'
import { inBackground } from '../../parts/page/in-background.ts'
import { useTranslation } from '../../texts/use-translation.ts'
import { Segments } from '../../parts/forms/segments.tsx'

const KINDS = ['personal', 'enterprise'] as const
const STATED = {
  personal: ['legal_name', 'id_number'],
  enterprise: ['company_name', 'registration_number', 'contact_name'],
} as const satisfies Readonly<Record<VerificationKind, readonly string[]>>
const TYPES = 'application/pdf,image/jpeg,image/png,image/webp'
const DOCUMENTS_MAX = 5

/**
 * A type, not an interface: the form library requires an index signature. Field names are the gateway's, so that errors
 * are shown beside them.
 */
type Values = {
  kind: VerificationKind
  legal_name: string
  id_number: string
  company_name: string
  registration_number: string
  contact_name: string
  documents: File[]
}

interface VerificationFormProps {
  readonly verified: 'none' | 'personal'
}

/** The form of an identity verification, with documents. */
export function VerificationForm({ verified }: VerificationFormProps) {
  const { t } = useTranslation()
  const { form, submit, isPending, problem } = useVerificationForm(verified)
  const { kind } = form.values
  return (
    <FormFrame sending={{ submit, isPending, problem }} action={t('settings.ask')}>
      {verified === 'none' && (
        <Segments
          aria-label={t('settings.kind')}
          data={KINDS.map((value) => ({ value, label: t(`settings.kinds.${value}`) }))}
          {...form.getInputProps('kind')}
        />
      )}
      {STATED[kind].map((name) => (
        <TextInput key={name} label={t(`settings.stated.${name}`)} {...form.getInputProps(name)} />
      ))}
      <FileInput
        label={t('settings.documents')}
        description={t('settings.documentsHint', { count: DOCUMENTS_MAX })}
        placeholder={t('settings.choose')}
        multiple
        clearable
        accept={TYPES}
        clearButtonProps={{ 'aria-label': t('clearFilter', { name: t('settings.documents') }) }}
        {...form.getInputProps('documents')}
      />
    </FormFrame>
  )
}

function useVerificationForm(verified: VerificationFormProps['verified']) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const organisation = useOrganisationId()
  const form = useForm<Values>({
    initialValues: {
      kind: verified === 'none' ? 'personal' : 'enterprise',
      legal_name: '',
      id_number: '',
      company_name: '',
      registration_number: '',
      contact_name: '',
      documents: [],
    },
    validate: (values) => ({
      ...Object.fromEntries(
        STATED[values.kind]
          .filter((name) => values[name].trim() === '')
          .map((name) => [name, t('settings.wanted')]),
      ),
      ...(values.documents.length === 0 || values.documents.length > DOCUMENTS_MAX
        ? { documents: t('settings.documentsWanted', { count: DOCUMENTS_MAX }) }
        : {}),
    }),
  })
  const sending = useSubmit(form, {
    send: (values) =>
      askVerification(
        values.kind,
        Object.fromEntries(STATED[values.kind].map((name) => [name, values[name].trim()])),
        { documents: values.documents, organisation },
      ),
    onDone: () =>
      inBackground(queryClient.invalidateQueries({ queryKey: verificationQuery(organisation).queryKey })),
  })
  return { form, ...sending }
}
