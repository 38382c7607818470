"""Small files of every known format, as their apps write them; real ones cannot be published."""

import gzip
import io
import json
import tarfile
import zipfile
from datetime import datetime, timedelta

START = datetime(2024, 3, 1, 10)


def times(count, step_s=6):
    return [START + timedelta(seconds=step_s * row) for row in range(count)]


def radiocells(scans=2, *, first=0, root=None, fix="begin-end", serving="", **changes):
    """A log as bytes; scan i is at lat 51.5 + i/1000, lng -0.1, at -90 - i % 30 dBm."""
    attributes = {
        "manufacturer": "samsung", "model": "GT-I9100", "revision": "4.2.2",
        "swid": "Radiobeacon", "swver": "00.8.00", "exportver": "00.8.00",
    } | changes  # fmt: skip
    texts = " ".join(f'{key}="{value}"' for key, value in attributes.items() if value is not None)
    lines = ['<?xml version="1.0" encoding="UTF-8" ?>', f"<{root or 'logfile'} {texts}>"]
    for index, time in enumerate(times(first + scans)[first:], first):
        lines += _scan(index, f"{time:%Y%m%d%H%M%S}", fix, serving)
    return "\n".join([*lines, f"</{root or 'logfile'}>", ""]).encode()


def _scan(index, time, fix, serving):
    place = f'<gps time="{time}" lng="-0.1" lat="{51.5 + index / 1000:.4f}" alt="20.0"'
    later = f'<gps time="{time}" lng="-0.2" lat="{52.5 + index / 1000:.4f}" alt="20.0"'
    fixes = {
        "begin": f'{place} accuracy="5.0" type="begin" />',
        "end": f'{later} accuracy="6.0" type="end" />',
        "none": f'{place} hdop="1" vdop="1" pdop="1"/>',
    }
    cell = 'mcc="234" mnc="10" lac="123" id="53762" act_id="53762" rnc="-1" psc="-1"'
    return [
        f'<scan time="{time}">',
        *(text for kind, text in fixes.items() if kind in fix.split("-")),
        serving or f'<gsmserving {cell} ss="{-90 - index % 30}" act="LTE" rxlev="43"/>',
        '<gsmneighbour mcc="234" mnc="10" lac="123" id="-1" psc="7" rxlev="20" act="LTE"/>',
        "</scan>",
    ]


OPENCELLID_HEADER = (
    "mcc,mnc,lac,cellid,lat,lon,signal,measured_at,rating,speed,direction,act,ta,psc,tac,pci,sid,"
    "nid,bid"
)


def opencellid(rows=3, act="LTE+", signal=-90, mnc=10, swap=False):
    header = OPENCELLID_HEADER.replace("lat,lon", "lon,lat") if swap else OPENCELLID_HEADER
    lines = [header]
    for index, time in enumerate(times(rows)):
        lat, lon = f"{51.5 + index / 1000:.4f}", "-0.1"
        place = f"{lon},{lat}" if swap else f"{lat},{lon}"
        epoch_ms = int((time - datetime(1970, 1, 1)).total_seconds() * 1000)
        lines.append(
            f"234,{mnc},29100,9751881,{place},{signal},{epoch_ms},12.5,0.3,317.3,{act},0,,1,4,,,"
        )
    return ("\n".join(lines) + "\n").encode()


GNETTRACK_HEADER = (
    "Timestamp Longitude Latitude Operatorname Operator Cellname Node CellID LAC NetworkTech Level "
    "Qual SNR CQI LTERSSI ARFCN PSC Altitude Distance TA BAND"
)


def gnettrack(rows=3, tech="4G", level=-81):
    """The raw log: tabs, CRLF, one more tab at the end of data lines."""
    lines = [GNETTRACK_HEADER.replace(" ", "\t")]
    for index, time in enumerate(times(rows)):
        values = [
            f"{time:%Y.%m.%d_%H.%M.%S}", "-17.436158", f"{14.665 + index / 1000:.6f}", "Orange",
            "60801", "", "21", "11", "7000", tech, level, -8, 0.0, 10, -73, 2850, 325, 74, -1, 0,
            "L7", "",
        ]  # fmt: skip
        lines.append("\t".join(map(str, values)))
    return ("\r\n".join(lines) + "\r\n").encode()


CORK_HEADER = (
    "Timestamp,Longitude,Latitude,Speed,Operatorname,CellID,NetworkMode,RSRP,RSRQ,SNR,CQI,RSSI,"
    "DL_bitrate,UL_bitrate,State,PINGAVG,PINGMIN,PINGMAX,PINGSTDEV,PINGLOSS,CELLHEX,NODEHEX,LACHEX,"
    "RAWCELLID,NRxRSRP,NRxRSRQ"
)


def cork(rows=3, mode="5G", rsrp=-95):
    lines = [CORK_HEADER]
    for index, time in enumerate(times(rows)):
        lines.append(
            f"{time:%Y.%m.%d_%H.%M.%S},-8.5,{51.9 + index / 1000:.4f},0,B,11,{mode},{rsrp},-13,2.0,"
            "9,-74,0,0,I,-,-,-,-,-,B,A4DF,9CBA,10805003,-,-"
        )
    return ("\n".join(lines) + "\n").encode()


TOWERCOLLECTOR_HEADER = (
    "mcc,mnc,lac,cell_id,short_cell_id,rnc,psc,asu,dbm,ta,lat,lon,accuracy,speed,bearing,altitude,"
    "measured_at,net_type,neighboring,discovered_at,device,rsrp,rsrq,rssi,rssnr,cqi,rscp,csi_rsrp,"
    "csi_rsrq,csi_sinr,ss_rsrp,ss_rsrq,ss_sinr,cdma_dbm,cdma_ecio,evdo_dbm,evdo_ecio,evdo_snr,"
    "ec_no,arfcn"
)


def towercollector(*rows):
    """``rows`` are dicts over a serving LTE cell of -97 dBm; by default three of them."""
    lines = [TOWERCOLLECTOR_HEADER]
    for index, (row, time) in enumerate(zip(rows or ({},) * 3, times(99), strict=False)):
        values = {
            "mcc": "260", "mnc": "2", "lac": "58140", "cell_id": "42042", "asu": "43",
            "dbm": "-97", "lat": f"{52.2 + index / 1000:.4f}", "lon": "21.0", "accuracy": "9.5",
            "measured_at": f"{time:%Y-%m-%dT%H:%M:%S}.000Z", "net_type": "LTE",
            "neighboring": "0", "device": "Google Pixel 6", "rsrp": "-97",
        } | row  # fmt: skip
        lines.append(",".join(values.get(name, "") for name in TOWERCOLLECTOR_HEADER.split(",")))
    return ("\n".join(lines) + "\n").encode()


def geosubmit(items=2, tower=None, **changes):
    """``tower`` changes the cell tower, ``changes`` the item that holds it."""
    cell = {
        "radioType": "lte", "mobileCountryCode": 208, "mobileNetworkCode": 1,
        "locationAreaCode": 2, "cellId": 12345, "asu": 31, "serving": 1, "signalStrength": -91,
    } | (tower or {})  # fmt: skip
    made = [
        {
            "timestamp": 1405602028568 + 6000 * index,
            "position": {"latitude": 48.1 + index / 1000, "longitude": 2.3, "accuracy": 10.0},
            "cellTowers": [cell],
        }
        | changes
        for index in range(items)
    ]
    return json.dumps({"items": made}, indent=1).encode()


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def folder(path, members):
    path.mkdir(exist_ok=True)
    for name, content in members.items():
        write(path / name, content)
    return path


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def tarred(path, members):
    """``members``: name → bytes, or a ready TarInfo without content."""
    with tarfile.open(path, "w:gz" if path.suffix in (".gz", ".tgz") else "w") as archive:
        for name, content in members.items():
            if isinstance(content, bytes):
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
            else:
                archive.addfile(content)
    return path


CONTAINERS = {
    "uploads": folder,
    "uploads.zip": zipped,
    "uploads.tar": tarred,
    "uploads.tar.gz": tarred,
    "uploads.tgz": tarred,
}


def gzipped(path, content):
    return write(path, gzip.compress(content))
