import * as z from 'zod'

/** One field of a record: its path from the top, its type in words. */
export interface FieldRow {
  name: string
  type: string
  required: boolean
  description: string
}

/** One way a record can look. `title` where there are several; no rows for plain text. */
export interface Shape {
  title: string | null
  rows: FieldRow[]
}

type Json = z.core.JSONSchema.BaseSchema

/**
 * What a record holds, as it is written: the input side of its schema.
 *
 * @throws Error the schema has no JSON Schema, or one this page has no words for
 */
export function shapesOf(schema: z.ZodType, key: string): Shape[] {
  const written: Json = z.toJSONSchema(schema, { io: 'input' })
  const alternatives = alternativesOf(written)
  if (alternatives === null) return [{ title: null, rows: fieldsOf(written, '', key) }]
  return alternatives.map(({ label, schema }) => ({ title: `A record ${label}:`, rows: fieldsOf(schema, '', key) }))
}

function fieldsOf(schema: Json, above: string, key: string): FieldRow[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    if (typeof field === 'boolean') throw new Error(`${key}: ${above}${name} has a schema without a type`)
    const path = `${above}${name}`
    const required = schema.required?.includes(name) === true
    return [
      { name: path, type: typeOf(field, `${key}: ${path}`), required, description: field.description ?? '' },
      ...within(field, path, key),
    ]
  })
}

/** The fields of what stands in a field: of an object, of the items of a list, of each way a union can be. */
function within(schema: Json, path: string, key: string): FieldRow[] {
  const alternatives = alternativesOf(schema)
  if (alternatives !== null) {
    return merged(alternatives.map(({ label, schema: one }) => ({ label, rows: fieldsOf(one, `${path}.`, key) })))
  }
  const items = itemsOf(schema)
  return items === null ? fieldsOf(schema, `${path}.`, key) : within(items, `${path}[]`, key)
}

/** One row a field, whichever ways have it; a field that not all of them have says which do. */
function merged(ways: readonly { label: string; rows: readonly FieldRow[] }[]): FieldRow[] {
  const names = new Set(ways.flatMap(({ rows }) => rows.map(({ name }) => name)))
  return [...names].map((name) => {
    const found = ways.flatMap(({ label, rows }) => rows.filter((row) => row.name === name).map((row) => ({ label, row })))
    const some = found.length < ways.length ? `of ${found.map(({ label }) => label).join(' and ')}` : ''
    return {
      name,
      type: [...new Set(found.map(({ row }) => row.type))].join(' or '),
      required: found.every(({ row }) => row.required),
      description: [some, ...new Set(found.map(({ row }) => row.description))].filter(Boolean).join(': '),
    }
  })
}

function typeOf(schema: Json, where: string): string {
  if (Object.keys(schema).every((name) => name === 'description')) return 'anything'
  if (schema.const !== undefined) return `\`${String(schema.const)}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(' or ')
  if (isInstant(schema)) return 'instant'
  const alternatives = alternativesOf(schema)
  if (alternatives !== null) return `object, ${alternatives.map(({ label }) => label).join(' or ')}`

  const items = itemsOf(schema)
  if (items !== null) return `list of ${typeOf(items, where)}`
  const { type, additionalProperties: values } = schema
  if (type === 'object' && schema.properties === undefined && typeof values === 'object') return `names, each with ${typeOf(values, where)}`
  if (type === 'string') return schema.contentEncoding === undefined ? 'text' : schema.contentEncoding
  if (type === 'object' || type === 'number' || type === 'integer' || type === 'boolean') return type
  const [present, ...more] = schema.anyOf?.filter((one) => one.type !== 'null') ?? []
  if (present !== undefined && more.length === 0) return `${typeOf(present, where)} or null`
  throw new Error(`${where}: no words for ${JSON.stringify(schema)}`)
}

/** How src/records/instant.ts is written: a date and time, or (older records) a number. */
function isInstant({ anyOf }: Json): boolean {
  return anyOf?.length === 2 && anyOf.some(({ format }) => format === 'date-time') && anyOf.some(({ type }) => type === 'number')
}

interface Alternative {
  label: string
  schema: Json
}

/** The objects a union can be, each named after what tells it from the others; null for what is no union of objects. */
function alternativesOf({ anyOf, oneOf }: Json): Alternative[] | null {
  const union = anyOf ?? oneOf
  if (union === undefined || !union.every(({ properties }) => properties !== undefined)) return null
  return union.map((schema) => ({ label: labelOf(schema, union), schema }))
}

function labelOf(schema: Json, union: readonly Json[]): string {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const values = union.map((one) => constantOf(one, name))
    if (typeof field === 'object' && new Set(values).size === union.length && !values.includes(undefined))
      return `\`${String(field.const)}\``
  }
  const own = schema.required?.find((name) => union.every((other) => other === schema || other.required?.includes(name) !== true))
  if (own === undefined) throw new Error(`nothing tells ${JSON.stringify(schema)} from the other ways it can be written`)
  return `with \`${own}\``
}

function constantOf({ properties }: Json, name: string): unknown {
  const field = properties?.[name]
  return typeof field === 'object' ? field.const : undefined
}

function itemsOf({ type, items }: Json): Json | null {
  return type === 'array' && typeof items === 'object' && !Array.isArray(items) ? items : null
}
