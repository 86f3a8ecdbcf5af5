// Shared by components that are sent a large array, see `parcel`.

// What `parcel` sent: the data, and the bytes beside it.
export function unpackParcel(parcel) {
  const bytes = new Uint8Array(parcel.buffer ?? parcel, parcel.byteOffset ?? 0, parcel.byteLength);
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return [JSON.parse(new TextDecoder().decode(bytes.subarray(4, end))), bytes.subarray(end)];
}

// Whether two runs of bytes are alike.
export function equalBytes(bytes, others) {
  return bytes?.length === others.length && bytes.every((byte, index) => byte === others[index]);
}
