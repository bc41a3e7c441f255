"use strict";
// Headers become buttons that sort; without this script they are words, and the tables are as they
// were written.
(function () {
    const said = document.getElementById("said");

    function sorted(table, column, ascending) {
        const body = table.tBodies[0];
        const number = table.tHead.rows[0].cells[column].classList.contains("number");
        const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
        const order = (a, b) => {
            const x = key(a), y = key(b);
            if (x === "" || y === "")
                return (x === "") - (y === "");     // what is not known comes last in either order
            const less = number ? Number(x) - Number(y)
                : x.localeCompare(y, "en", { numeric: true });
            return ascending ? less : -less;
        };
        body.append(...[...body.rows].sort(order));
    }

    function press(table, header) {
        const first = header.classList.contains("number") ? "descending" : "ascending";
        const other = first === "descending" ? "ascending" : "descending";
        const direction = header.getAttribute("aria-sort") === first ? other : first;
        for (const each of table.tHead.rows[0].cells)
            each.removeAttribute("aria-sort");
        header.setAttribute("aria-sort", direction);
        sorted(table, header.cellIndex, direction === "ascending");
        const what = table.caption.textContent;
        said.textContent = `${what}: sorted by ${header.textContent}, ${direction}`;
    }

    for (const table of document.querySelectorAll("table.sorts")) {
        if (table.tBodies[0].rows.length < 2)
            continue;
        for (const header of table.tHead.rows[0].cells) {
            const button = document.createElement("button");
            button.type = "button";
            button.append(...header.childNodes);
            header.append(button);
            button.addEventListener("click", () => press(table, header));
        }
    }

    // What is folded away is printed all the same.
    let folded = [];
    addEventListener("beforeprint", () => {
        folded = [...document.querySelectorAll("details:not([open])")];
        folded.forEach(each => { each.open = true; });
    });
    addEventListener("afterprint", () => folded.forEach(each => { each.open = false; }));
})();
